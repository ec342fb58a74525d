// SPDX-License-Identifier: Apache-2.0
//
// relay PORT carries what programs of this guest say to 127.0.0.1:PORT over the terminal that is its standard input, to the machine that the guest
// runs on. Package relay is the far end and describes the frames. It goes on in the background as soon as it can be connected to, and ends with the
// terminal.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

enum { STREAMS = 64, HEADER = 3, DATA = 4096, OPENS = 0xFFFF, BEHIND = 64 * 1024 };

// A stream's number is free when both ends have ended the stream.
static struct stream {
    bool busy, said, heard; // that it is over
    int fd;                 // -1: closed
    size_t have;            // bytes for the program that wait
    uint8_t wait[BEHIND];
} streams[STREAMS];

static void die(const char *what) {
    perror(what);
    exit(1);
}

// send_frame sends a frame; length tells what it is if there is no data.
static void send_frame(int number, unsigned length, const uint8_t *data) {
    uint8_t frame[HEADER + DATA] = {number, length >> 8, length};
    size_t size = HEADER;
    if (data) {
        memcpy(frame + HEADER, data, length);
        size += length;
    }
    for (size_t at = 0; at < size;) {
        ssize_t n = write(0, frame + at, size - at);
        if (n < 0 && errno != EINTR)
            exit(0); // the machine has gone
        if (n > 0)
            at += n;
    }
}

// settle says the end of a stream whose connection is over, and frees its number.
static void settle(struct stream *s) {
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    s->have = 0;
    if (!s->said)
        send_frame(s - streams, 0, NULL);
    s->said = true;
    if (s->heard)
        s->busy = false;
}

// give passes on what waits for a program.
static void give(struct stream *s) {
    while (s->fd >= 0 && s->have > 0) {
        ssize_t n = write(s->fd, s->wait, s->have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0) {
            settle(s);
            return;
        }
        s->have -= n;
        memmove(s->wait, s->wait + n, s->have);
    }
    if (s->heard)
        settle(s);
}

// take takes a frame from the machine.
static void take(int number, unsigned length, const uint8_t *data) {
    struct stream *s = &streams[number];
    if (length == 0)
        s->heard = true;
    else if (s->fd >= 0 && s->have + length > BEHIND)
        settle(s); // the program does not read
    else if (s->fd >= 0) {
        memcpy(s->wait + s->have, data, length);
        s->have += length;
    }
    if (s->busy)
        give(s);
}

// from_line reads what the machine sends.
static void from_line(void) {
    static uint8_t buf[16 * (HEADER + DATA)];
    static size_t have;
    ssize_t n = read(0, buf + have, sizeof buf - have);
    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0)
        exit(0);
    have += n;
    size_t at = 0;
    while (have - at >= HEADER) {
        unsigned length = buf[at + 1] << 8 | buf[at + 2];
        if (buf[at] >= STREAMS || length > DATA) {
            fprintf(stderr, "relay: no frame: stream %d, length %u\n", buf[at], length);
            exit(1);
        }
        if (have - at < HEADER + length)
            break;
        take(buf[at], length, buf + at + HEADER);
        at += HEADER + length;
    }
    have -= at;
    memmove(buf, buf + at, have);
}

// from_program reads what a program sends.
static void from_program(struct stream *s) {
    uint8_t data[DATA];
    ssize_t n = read(s->fd, data, sizeof data);
    if (n > 0)
        send_frame(s - streams, n, data);
    else if (n == 0 || (errno != EINTR && errno != EAGAIN))
        settle(s);
}

static struct stream *unused(void) {
    for (int i = 0; i < STREAMS; i++)
        if (!streams[i].busy)
            return &streams[i];
    return NULL;
}

static void welcome(int listener) {
    struct stream *s = unused();
    int fd = accept(listener, NULL, NULL);
    if (fd < 0)
        return;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    *s = (struct stream){.busy = true, .fd = fd};
    send_frame(s - streams, OPENS, NULL);
}

static int listen_at(int port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) || bind(fd, (void *)&at, sizeof at) || listen(fd, 16))
        die("relay: listen");
    return fd;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: relay PORT <TERMINAL\n");
        return 2;
    }
    struct termios t;
    if (tcgetattr(0, &t) == 0) { // a test's line is no terminal
        cfmakeraw(&t);
        if (tcsetattr(0, TCSANOW, &t))
            die("relay: terminal");
    }
    signal(SIGPIPE, SIG_IGN);
    int listener = listen_at(atoi(argv[1]));
    for (int i = 0; i < STREAMS; i++)
        streams[i].fd = -1;
    pid_t pid = fork();
    if (pid)
        return pid < 0;
    for (;;) {
        struct pollfd polls[2 + STREAMS] = {{.fd = 0, .events = POLLIN}, {.fd = unused() ? listener : -1, .events = POLLIN}};
        for (int i = 0; i < STREAMS; i++)
            polls[2 + i] = (struct pollfd){.fd = streams[i].fd, .events = streams[i].have > 0 ? POLLIN | POLLOUT : POLLIN};
        if (poll(polls, 2 + STREAMS, -1) < 0 && errno != EINTR)
            die("relay: poll");
        if (polls[0].revents)
            from_line();
        for (int i = 0; i < STREAMS; i++) {
            struct stream *s = &streams[i];
            if (s->fd < 0 || s->fd != polls[2 + i].fd)
                continue;
            if (polls[2 + i].revents & POLLOUT)
                give(s);
            if (s->fd >= 0 && polls[2 + i].revents & (POLLIN | POLLHUP | POLLERR))
                from_program(s);
        }
        if (polls[1].revents & POLLIN)
            welcome(listener);
    }
}
