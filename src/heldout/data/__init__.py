"""What comes in from outside, as arrays and tasks that the rest may trust."""
