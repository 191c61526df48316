"""ROS glue: a node declares parameters, converts, calls one domain object and publishes."""
