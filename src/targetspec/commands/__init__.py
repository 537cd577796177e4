"""The commands of `targetspec`, a module for each idea: a command takes its arguments, gives an Output, and prints nothing."""
