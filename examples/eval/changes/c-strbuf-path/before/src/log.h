#ifndef LOG_H
#define LOG_H

/* Writes a line to the system log. */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
