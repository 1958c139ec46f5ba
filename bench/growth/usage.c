// usage SECONDS COMMAND...: runs the command, for at most so many seconds of processor time, and prints what it took:
// seconds, and KiB of memory at the peak. GNU time would do, but is not installed everywhere.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    pid_t child = fork();
    if (child < 0) return 2;
    if (child == 0) {
        rlim_t limit = strtoul(argv[1], NULL, 10);
        setrlimit(RLIMIT_CPU, &(struct rlimit){limit, limit});
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    int status;
    struct rusage used;
    if (wait4(child, &status, 0, &used) != child || status != 0) return 1;
    printf("%.3f %ld\n", seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss);
    return 0;
}
