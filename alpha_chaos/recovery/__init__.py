"""Recovery: what an arm does when it notices that something went wrong; one policy a file."""
