//! Lines of moves, each move as its rank among the legal ones, best guess first.
