// kafkajs: a JSON object comes in on each line, its answer goes out as JSON.
'use strict'

const readline = require('node:readline')
const { Kafka, CompressionTypes, CompressionCodecs, logLevel } = require('kafkajs')
const snappy = require('kafkajs-snappy')
const lz4 = require('lz4js')
const { ZstdCodec } = require('zstd-codec')

const LIMIT_MS = 60_000
const BATCH_BYTES_MAX = 4 << 20
const CODECS = { none: 'None', gzip: 'GZIP', snappy: 'Snappy', lz4: 'LZ4', zstd: 'ZSTD' }

const kafka = new Kafka({ clientId: 'kafkajs', brokers: [process.argv[2]], logLevel: logLevel.NOTHING })
const producers = new Map()
let groups = 0

CompressionCodecs[CompressionTypes.Snappy] = snappy
CompressionCodecs[CompressionTypes.LZ4] = () => ({
  // Kafka takes frames of independent blocks only. lz4js claims the other kind, though one block, as here, depends on none:
  // set the flag, and the checksum that the header then has.
  compress: async (encoder) => {
    const frame = Buffer.from(lz4.compress(encoder.buffer))
    frame[4] = 0x60
    frame[6] = 0x73
    return frame
  },
  decompress: async (data) => decompressed(data),
})
const zstd = new Promise((resolve) => ZstdCodec.run((codec) => resolve(new codec.Streaming())))
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: async (encoder) => Buffer.from((await zstd).compress(encoder.buffer)),
  decompress: async (data) => Buffer.from((await zstd).decompress(data)),
})

// lz4js takes the checksums of blocks, which aiokafka writes, for blocks; so only the blocks are left to it.
function decompressed(frame) {
  const [hasBlockSums, hasSize] = [frame[4] & 0x10, frame[4] & 0x08]
  const out = Buffer.alloc(BATCH_BYTES_MAX)
  let [at, end] = [hasSize ? 15 : 7, 0]
  for (let word = frame.readUInt32LE(at); word !== 0; word = frame.readUInt32LE(at)) {
    const length = word & 0x7fffffff
    at += 4
    end = word >>> 31 ? end + frame.copy(out, end, at, at + length) : lz4.decompressBlock(frame, out, at, length, end)
    at += length + (hasBlockSums ? 4 : 0)
  }
  return out.subarray(0, end)
}

const encoded = (data) => (data === null || data === undefined ? null : data.toString('base64'))
const decoded = (text) => (text === null ? null : Buffer.from(text, 'base64'))

async function admin(task) {
  const client = kafka.admin()
  await client.connect()
  try {
    return await task(client)
  } finally {
    await client.disconnect()
  }
}

async function write({ topic, partition, codec, idempotent, records }) {
  const kind = `${codec} ${idempotent}`
  if (!producers.has(kind)) {
    const settings = idempotent ? { idempotent, maxInFlightRequests: 1 } : {}
    producers.set(kind, kafka.producer({ ...settings, retry: { retries: 3 } }))
    await producers.get(kind).connect()
  }
  const messages = records.map((record) => ({
    partition,
    key: decoded(record.key),
    value: decoded(record.value),
    timestamp: String(record.timestamp),
    headers: Object.fromEntries(record.headers.map(([name, value]) => [name, decoded(value)])),
  }))
  const sent = { topic, acks: -1, compression: CompressionTypes[CODECS[codec]], messages }
  const [metadata] = await producers.get(kind).send(sent)
  return messages.map((_, position) => Number(metadata.baseOffset) + position)
}

// kafkajs reads in groups only; each reader here is alone in one and begins where it is told.
async function read({ topic, partitions, offset, count, committed }) {
  groups += 1
  const consumer = kafka.consumer({ groupId: `kafkajs-${process.pid}-${groups}`, readUncommitted: !committed })
  const found = []
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  try {
    await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`read ${found.length} of ${count} records`)), LIMIT_MS)
      consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error))
      const take = async ({ partition, message }) => {
        if (!partitions.includes(partition) || Number(message.offset) < offset) return
        const headers = Object.entries(message.headers).map(([name, value]) => [name, encoded(value)])
        const { key, value, timestamp } = message
        found.push({ partition, key: encoded(key), value: encoded(value), timestamp: Number(timestamp), headers })
        if (found.length === count) {
          clearTimeout(timer)
          resolve()
        }
      }
      consumer.run({ eachMessage: take, autoCommit: false }).catch(reject)
      for (const partition of partitions) consumer.seek({ topic, partition, offset: String(offset) })
    })
  } finally {
    await consumer.disconnect()
  }
  return found
}

const commands = {
  create: ({ topic, partitions }) =>
    admin((client) => client.createTopics({ waitForLeaders: true, topics: [{ topic, numPartitions: partitions }] })),
  delete: ({ topic }) => admin((client) => client.deleteTopics({ topics: [topic] })).then(() => 'done'),
  write,
  read,
  offset_at: async ({ topic, partition, timestamp }) => {
    const offsets = await admin((client) => client.fetchTopicOffsetsByTimestamp(topic, timestamp))
    return Number(offsets.find((each) => each.partition === partition).offset)
  },
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const request = JSON.parse(line)
    let told
    try {
      told = { answer: (await commands[request.do](request)) ?? null }
    } catch (error) {
      told = { error: String(error) }
    }
    process.stdout.write(`${JSON.stringify(told)}\n`)
  }
  process.exit(0)
}

main()
