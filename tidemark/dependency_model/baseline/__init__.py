"""When will it be ready, what makes it late, how long does a repair take (seed capability A9).

`learned_times.py`: how long things take; `slice_network.py`: the open slices as arrays; `room.py`: the limits of pools;
`forecast.py`: when each starts and finishes; `promise.py`: margins; `key_path.py`: what decides, and why it is late.
"""
