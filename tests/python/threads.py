# Calls from several threads: right values, a context each, freed with the thread, and other threads run meanwhile.
import threading
import time

import common
import model

wrong, contexts = [], set()
barrier = threading.Barrier(8)


def work(k):
    contexts.add(model._context())
    barrier.wait()
    for i in range(300):
        n = (i + k) % 50
        if model.twice([k] * n).tolist() != [2.0 * k] * n:
            wrong.append((k, i))
        try:
            model.element([k], n + 1)
            wrong.append((k, i))
        except IndexError as error:
            if "index %d is out of range" % (n + 1) not in str(error):
                wrong.append(str(error))
    barrier.wait()


threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("wrong:", wrong, "contexts:", len(contexts))

freed = []
library = model._library
free = library.fsm_context_free


class Counting:
    fsm_context_new = library.fsm_context_new

    @staticmethod
    def fsm_context_free(handle):
        freed.append(handle)
        free(handle)


model._library = Counting
thread = threading.Thread(target=model._context)
thread.start()
thread.join()
print("freed with its thread:", len(freed))
model._library = library

# A long call does not keep the others waiting.
done = threading.Event()
n = 500
while True:
    start = time.monotonic()
    model.slow(n)
    if time.monotonic() - start > 0.2:
        break
    n *= 2
thread = threading.Thread(target=lambda: (model.slow(n), done.set()))
thread.start()
count = 0
while not done.is_set():
    count += 1
    time.sleep(0.001)
print("ran meanwhile:", count > 20)
