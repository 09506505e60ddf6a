"""What a learner of the catalogue is described by."""
