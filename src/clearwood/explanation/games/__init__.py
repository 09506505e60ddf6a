"""The game that the columns of a model play: exact for trees and sums, sampled otherwise."""
