// franz-go: a JSON object comes in on each line, its answer goes out as JSON.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const limit = 60 * time.Second

type header struct {
	Name  string
	Value []byte
}

// In JSON a header is a pair, as in the other clients' programs.
func (h *header) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&h.Name, &h.Value})
}

func (h header) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{h.Name, h.Value})
}

type record struct {
	Partition int32    `json:"partition"`
	Key       []byte   `json:"key"`
	Value     []byte   `json:"value"`
	Timestamp int64    `json:"timestamp"`
	Headers   []header `json:"headers"`
}

type request struct {
	Do         string   `json:"do"`
	Topic      string   `json:"topic"`
	Partition  int32    `json:"partition"`
	Partitions any      `json:"partitions"`
	Codec      string   `json:"codec"`
	Idempotent bool     `json:"idempotent"`
	Records    []record `json:"records"`
	Offset     int64    `json:"offset"`
	Count      int      `json:"count"`
	Committed  bool     `json:"committed"`
	Timestamp  int64    `json:"timestamp"`
}

type client struct {
	server    string
	admin     *kadm.Client
	producers map[string]*kgo.Client
}

var codecs = map[string]kgo.CompressionCodec{
	"none":   kgo.NoCompression(),
	"gzip":   kgo.GzipCompression(),
	"snappy": kgo.SnappyCompression(),
	"lz4":    kgo.Lz4Compression(),
	"zstd":   kgo.ZstdCompression(),
}

func (c *client) producer(codec string, idempotent bool) (*kgo.Client, error) {
	kind := fmt.Sprint(codec, idempotent)
	if kept, ok := c.producers[kind]; ok {
		return kept, nil
	}
	options := []kgo.Opt{
		kgo.SeedBrokers(c.server),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(codecs[codec]),
		kgo.ProducerBatchMaxBytes(1048588),
		kgo.ProducerLinger(20 * time.Millisecond),
		kgo.MetadataMinAge(100 * time.Millisecond),
		kgo.UnknownTopicRetries(3),
	}
	if !idempotent {
		options = append(options, kgo.DisableIdempotentWrite())
	}
	made, err := kgo.NewClient(options...)
	if err == nil {
		c.producers[kind] = made
	}
	return made, err
}

func (c *client) write(ctx context.Context, asked request) (any, error) {
	producer, err := c.producer(asked.Codec, asked.Idempotent)
	if err != nil {
		return nil, err
	}
	var sent []*kgo.Record
	for _, each := range asked.Records {
		one := &kgo.Record{
			Topic:     asked.Topic,
			Partition: asked.Partition,
			Key:       each.Key,
			Value:     each.Value,
			Timestamp: time.UnixMilli(each.Timestamp),
		}
		for _, h := range each.Headers {
			one.Headers = append(one.Headers, kgo.RecordHeader{Key: h.Name, Value: h.Value})
		}
		sent = append(sent, one)
	}
	if err := producer.ProduceSync(ctx, sent...).FirstErr(); err != nil {
		if errors.Is(err, kerr.UnknownTopicID) {
			// franz-go leaves it to the application to take a topic that was made again for the same one.
			producer.PurgeTopicsFromProducing(asked.Topic)
		}
		return nil, err
	}
	offsets := []int64{}
	for _, each := range sent {
		offsets = append(offsets, each.Offset)
	}
	return offsets, nil
}

func (c *client) read(ctx context.Context, asked request) (any, error) {
	starts := map[int32]kgo.Offset{}
	for _, partition := range asked.Partitions.([]any) {
		starts[int32(partition.(float64))] = kgo.NewOffset().At(asked.Offset)
	}
	isolation := kgo.ReadUncommitted()
	if asked.Committed {
		isolation = kgo.ReadCommitted()
	}
	consumer, err := kgo.NewClient(
		kgo.SeedBrokers(c.server),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{asked.Topic: starts}),
		kgo.FetchIsolationLevel(isolation),
	)
	if err != nil {
		return nil, err
	}
	defer consumer.Close()
	found := []record{}
	for len(found) < asked.Count {
		fetches := consumer.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return nil, err
		}
		fetches.EachRecord(func(each *kgo.Record) {
			one := record{each.Partition, each.Key, each.Value, each.Timestamp.UnixMilli(), []header{}}
			for _, h := range each.Headers {
				one.Headers = append(one.Headers, header{h.Key, h.Value})
			}
			found = append(found, one)
		})
	}
	return found, nil
}

func (c *client) answer(asked request) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	switch asked.Do {
	case "create":
		made, err := c.admin.CreateTopic(ctx, int32(asked.Partitions.(float64)), 1, nil, asked.Topic)
		if err == nil {
			err = made.Err
		}
		return "done", err
	case "delete":
		gone, err := c.admin.DeleteTopic(ctx, asked.Topic)
		if err == nil {
			err = gone.Err
		}
		return "done", err
	case "write":
		return c.write(ctx, asked)
	case "read":
		return c.read(ctx, asked)
	case "offset_at":
		listed, err := c.admin.ListOffsetsAfterMilli(ctx, asked.Timestamp, asked.Topic)
		if err != nil {
			return nil, err
		}
		found, _ := listed.Lookup(asked.Topic, asked.Partition)
		return found.Offset, found.Err
	}
	return nil, fmt.Errorf("no such command: %s", asked.Do)
}

func main() {
	plain, err := kgo.NewClient(kgo.SeedBrokers(os.Args[1]))
	if err != nil {
		panic(err)
	}
	c := &client{os.Args[1], kadm.NewClient(plain), map[string]*kgo.Client{}}
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked request
		if err := json.Unmarshal(line, &asked); err != nil {
			panic(err)
		}
		told := map[string]any{}
		if answer, err := c.answer(asked); err != nil {
			told["error"] = err.Error()
		} else {
			told["answer"] = answer
		}
		text, err := json.Marshal(told)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(text))
	}
}
