"""Recordings: rosbag2 folders with one MCAP file, written and read without ROS."""
