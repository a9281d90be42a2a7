"""Baselines: when a slice will be ready, what makes it late, how long a repair takes (seed capability A9).

`learned_times.py`: durations; `slice_network.py`: the open slices as arrays; `room.py`: the limits of pools;
`forecast.py`: start and finish of each slice; `promise.py`: margins; `key_path.py`: the slices that decide a promise,
and the causes of a delay.
"""
