"""Running a matrix of episodes: jobs, processes, domains, resume, progress."""
