/* Load on a Kafka broker through librdkafka, at a fraction of what the broker itself takes.
 *
 * load produce BROKERS TOPIC PARTITIONS RECORD_BYTES BATCH_BYTES COUNT IDEMPOTENCE   prints: seconds requests errors
 * load consume BROKERS TOPIC PARTITIONS COUNT                                        prints: seconds bytes
 * load latency BROKERS TOPIC PER_SECOND COUNT                                        prints: p50_us p99_us
 *
 * The library comes with the confluent-kafka wheel, which has no headers: what is used of it is declared here.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct rd_kafka_s rd_kafka_t;
typedef struct rd_kafka_conf_s rd_kafka_conf_t;
typedef struct rd_kafka_topic_s rd_kafka_topic_t;
typedef struct rd_kafka_queue_s rd_kafka_queue_t;
typedef struct {
    int err;
    rd_kafka_topic_t *rkt;
    int32_t partition;
    void *payload;
    size_t len;
    void *key;
    size_t key_len;
    int64_t offset;
    void *private_;
} rd_kafka_message_t;

rd_kafka_conf_t *rd_kafka_conf_new(void);
int rd_kafka_conf_set(rd_kafka_conf_t *, const char *, const char *, char *, size_t);
void rd_kafka_conf_set_dr_msg_cb(rd_kafka_conf_t *, void (*)(rd_kafka_t *, const rd_kafka_message_t *, void *));
void rd_kafka_conf_set_stats_cb(rd_kafka_conf_t *, int (*)(rd_kafka_t *, char *, size_t, void *));
rd_kafka_t *rd_kafka_new(int, rd_kafka_conf_t *, char *, size_t);
rd_kafka_topic_t *rd_kafka_topic_new(rd_kafka_t *, const char *, void *);
int rd_kafka_produce(rd_kafka_topic_t *, int32_t, int, void *, size_t, const void *, size_t, void *);
int rd_kafka_poll(rd_kafka_t *, int);
int rd_kafka_flush(rd_kafka_t *, int);
rd_kafka_queue_t *rd_kafka_queue_new(rd_kafka_t *);
int rd_kafka_consume_start_queue(rd_kafka_topic_t *, int32_t, int64_t, rd_kafka_queue_t *);
ssize_t rd_kafka_consume_batch_queue(rd_kafka_queue_t *, int, rd_kafka_message_t **, size_t);
void rd_kafka_message_destroy(rd_kafka_message_t *);

enum { PRODUCER = 0, CONSUMER = 1, COPY = 2, FROM_BEGINNING = -2, FROM_END = -1, FETCHED_MAX = 10000 };

static long errors;
static long requests;
static char reason[512];

static double now_s(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec + at.tv_nsec / 1e9;
}

static void fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, reason);
    exit(1);
}

static void set(rd_kafka_conf_t *conf, const char *name, const char *value) {
    if (rd_kafka_conf_set(conf, name, value, reason, sizeof reason)) fail(name);
}

static void on_delivery(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque) {
    (void)client, (void)opaque;
    if (message->err) errors++;
}

static int on_stats(rd_kafka_t *client, char *json, size_t length, void *opaque) {
    (void)client, (void)length, (void)opaque;
    long sent = 0;
    for (char *at = json; (at = strstr(at, "\"Produce\":")); at += 10) sent += atol(at + 10);
    if (sent > requests) requests = sent;
    return 0;
}

static rd_kafka_t *connect_to(int type, rd_kafka_conf_t *conf, const char *brokers) {
    set(conf, "bootstrap.servers", brokers);
    rd_kafka_t *client = rd_kafka_new(type, conf, reason, sizeof reason);
    if (!client) fail("client");
    return client;
}

static rd_kafka_t *producer(const char *brokers, const char *batch_bytes, const char *linger_ms, const char *idempotence) {
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "acks", "all");
    set(conf, "batch.size", batch_bytes);
    set(conf, "message.max.bytes", "2000000");
    set(conf, "linger.ms", linger_ms);
    set(conf, "enable.idempotence", idempotence);
    set(conf, "queue.buffering.max.messages", "500000");
    set(conf, "queue.buffering.max.kbytes", "262144");
    set(conf, "delivery.report.only.error", "true");
    set(conf, "statistics.interval.ms", "100");
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    rd_kafka_conf_set_stats_cb(conf, on_stats);
    return connect_to(PRODUCER, conf, brokers);
}

static rd_kafka_queue_t *consumer(const char *brokers, const char *topic, int partitions, int64_t from) {
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "fetch.wait.max.ms", "100");
    set(conf, "queued.min.messages", "1000000");
    rd_kafka_t *client = connect_to(CONSUMER, conf, brokers);
    rd_kafka_topic_t *handle = rd_kafka_topic_new(client, topic, NULL);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    for (int partition = 0; partition < partitions; partition++)
        if (rd_kafka_consume_start_queue(handle, partition, from, queue)) fail("consume_start");
    return queue;
}

static int produce(char **argument) {
    int partitions = atoi(argument[2]);
    size_t record_bytes = atol(argument[3]), batch_bytes = atol(argument[4]);
    long count = atol(argument[5]), per_batch = batch_bytes / record_bytes + 1;
    rd_kafka_t *client = producer(argument[0], argument[4], "10", argument[6]);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, argument[1], NULL);
    char *payload = malloc(record_bytes);
    for (size_t i = 0; i < record_bytes; i++) payload[i] = (char)rand();
    double begin = now_s();
    for (long i = 0; i < count; i++)
        while (rd_kafka_produce(topic, i / per_batch % partitions, 0, payload, record_bytes, NULL, 0, NULL))
            rd_kafka_poll(client, 1);
    if (rd_kafka_flush(client, 120000)) fail("flush");
    double seconds = now_s() - begin;
    double last = now_s() + 0.25;
    while (now_s() < last) rd_kafka_poll(client, 50);
    printf("%.6f %ld %ld\n", seconds, requests, errors);
    return 0;
}

static int consume(char **argument) {
    long count = atol(argument[3]), seen = 0, bytes = 0;
    rd_kafka_message_t **messages = malloc(FETCHED_MAX * sizeof *messages);
    rd_kafka_queue_t *queue = consumer(argument[0], argument[1], atoi(argument[2]), FROM_BEGINNING);
    /* To find out where to read from takes the client half a second, whoever serves it: time runs from the first record. */
    rd_kafka_message_t *first;
    while (rd_kafka_consume_batch_queue(queue, 1000, &first, 1) != 1) continue;
    rd_kafka_message_destroy(first);
    double begin = now_s();
    while (seen < count) {
        ssize_t got = rd_kafka_consume_batch_queue(queue, 1000, messages, FETCHED_MAX);
        for (ssize_t i = 0; i < got; i++) {
            if (!messages[i]->err) seen++, bytes += messages[i]->len;
            rd_kafka_message_destroy(messages[i]);
        }
    }
    printf("%.6f %ld\n", now_s() - begin, bytes);
    return 0;
}

struct arrivals {
    rd_kafka_queue_t *queue;
    long count;
    double *taken_s;
};

static void *await(void *given) {
    struct arrivals *arrivals = given;
    rd_kafka_message_t *message;
    for (long seen = 0; seen < arrivals->count;) {
        if (rd_kafka_consume_batch_queue(arrivals->queue, 1000, &message, 1) != 1) continue;
        if (!message->err) {
            double sent;
            memcpy(&sent, message->payload, sizeof sent);
            arrivals->taken_s[seen++] = now_s() - sent;
        }
        rd_kafka_message_destroy(message);
    }
    return NULL;
}

static int in_order(const void *left, const void *right) {
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

static int latency(char **argument) {
    double interval = 1.0 / atol(argument[2]);
    long count = atol(argument[3]);
    struct arrivals arrivals = {consumer(argument[0], argument[1], 1, FROM_END), count, calloc(count, sizeof(double))};
    rd_kafka_t *client = producer(argument[0], "16384", "0", "false");
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, argument[1], NULL);
    pthread_t thread;
    rd_kafka_message_t *none;
    /* The end is where the consumer begins; it has found it when a first fetch has come back empty. */
    rd_kafka_consume_batch_queue(arrivals.queue, 1500, &none, 1);
    pthread_create(&thread, NULL, await, &arrivals);
    double next = now_s();
    for (long i = 0; i < count; i++, next += interval) {
        struct timespec pause = {0, 0};
        double ahead = next - now_s();
        if (ahead > 0) pause.tv_nsec = ahead * 1e9, nanosleep(&pause, NULL);
        double payload[125] = {now_s()};
        rd_kafka_produce(topic, 0, COPY, payload, sizeof payload, NULL, 0, NULL);
        rd_kafka_poll(client, 0);
    }
    rd_kafka_flush(client, 30000);
    pthread_join(thread, NULL);
    qsort(arrivals.taken_s, count, sizeof(double), in_order);
    printf("%.1f %.1f\n", arrivals.taken_s[count / 2] * 1e6, arrivals.taken_s[count * 99 / 100] * 1e6);
    return 0;
}

int main(int count, char **argument) {
    if (count == 9 && !strcmp(argument[1], "produce")) return produce(argument + 2);
    if (count == 6 && !strcmp(argument[1], "consume")) return consume(argument + 2);
    if (count == 6 && !strcmp(argument[1], "latency")) return latency(argument + 2);
    fprintf(stderr, "usage: see the head of load.c\n");
    return 2;
}
