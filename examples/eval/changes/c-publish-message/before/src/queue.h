#ifndef QUEUE_H
#define QUEUE_H

#include <stdbool.h>

#define TOPIC_SIZE 32
#define BODY_SIZE 32

struct message {
	char topic[TOPIC_SIZE];
	char body[BODY_SIZE];
};

struct queue;

/* Returns a message to be filled by the caller, or NULL without memory. */
struct message *message_new(void);

void message_free(struct message *message);

/*
 * Takes ownership of the message in any case: a message that finds the queue full is
 * freed, and false is returned. Thread-safe.
 */
bool queue_push(struct queue *queue, struct message *message);

#endif
