"""The commands, one file each: what they take, what they call, what they show."""
