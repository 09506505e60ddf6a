"""Tables whose rows stay where they are: files, folders, object stores, or rows made on the fly."""
