"""Methods that choose on a first part of the rows and bound on a second one.

``template`` chooses and concludes; a method says how the second part bounds what was chosen.
"""
