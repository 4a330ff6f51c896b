"""What the records mean, in words for people: the window, the command line and the exported pages say the same."""
