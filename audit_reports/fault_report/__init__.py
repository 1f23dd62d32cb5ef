"""The blast radius of one fault: every round it touched, what it moved wrongly, what is owed."""
