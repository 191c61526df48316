"""What a graph is watched for while faults strike: one file each."""
