# Memory stays flat over many calls, with errors, with new threads, and with results that are dropped.
import threading

import common
import model


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4


def round_of_calls(count):
    for i in range(count):
        model.fit(1, 0, [0, 1, 2], [1, 3, 4])
        model.transposed([[1, 2, 3], [4, 5, 6]])
        model.grid(1000, 0.5)
        try:
            model.element([1], 1)
        except IndexError:
            pass
        if i % 50 == 0:
            thread = threading.Thread(target=model.grid, args=(1000, 0.5))
            thread.start()
            thread.join()


round_of_calls(500)
before = resident()
round_of_calls(3000)
grown = resident() - before
print("flat" if grown < 400 else "grown by %d KiB" % grown)
