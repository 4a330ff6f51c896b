"""What the window can do beyond one question and its answer, each with its state and its wiring.

A feature is made by `app.compose` once its window is there; it connects what its views tell with the jobs, and what
comes back with its views. Features know the session and the window, and nothing of each other.
"""
