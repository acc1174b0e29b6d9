// A client as applications have it: transactions by Kafka's own producer, with offsets and compressed
// batches, read back by its own consumer in a KIP-848 group. Run as a source file: java -cp CLASSPATH Transactions.java HOST:PORT TOPIC TRANSACTIONS
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

public class Transactions {
    public static void main(String[] arguments) {
        String bootstrap = arguments[0];
        String topic = arguments[1];
        int transactions = Integer.parseInt(arguments[2]);
        int committed = 0;
        var input = new TopicPartition(topic, 0);
        for (String id : List.of(topic + "-a", topic + "-b", topic + "-a")) {
            Map<String, Object> settings = Map.of("bootstrap.servers", bootstrap, "transactional.id", id,
                "compression.type", id.endsWith("a") ? "gzip" : "none");
            try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
                producer.initTransactions();
                for (int i = 0; i < transactions; i++) {
                    producer.beginTransaction();
                    for (int record = 0; record < 3; record++) {
                        producer.send(new ProducerRecord<>(topic, record % 2, null, id + i));
                    }
                    producer.sendOffsetsToTransaction(Map.of(input, new OffsetAndMetadata(i)),
                        new ConsumerGroupMetadata(id));
                    if (i % 3 == 2) {
                        producer.flush();
                        producer.abortTransaction();
                    } else {
                        producer.commitTransaction();
                        committed += 3;
                    }
                }
            }
            Map<String, Object> member = Map.of("bootstrap.servers", bootstrap, "group.id", id,
                "isolation.level", "read_committed");
            try (var consumer = new KafkaConsumer<>(member, new StringDeserializer(), new StringDeserializer())) {
                long last = transactions - 1;
                long expected = last % 3 == 2 ? last - 1 : last;
                long found = consumer.committed(Set.of(input)).get(input).offset();
                if (found != expected) {
                    throw new IllegalStateException("committed " + found + ", expected " + expected);
                }
            }
        }
        Map<String, Object> settings = Map.of("bootstrap.servers", bootstrap,
            "group.id", topic + "-readers", "group.protocol", "consumer",
            "isolation.level", "read_committed", "auto.offset.reset", "earliest");
        int read = 0;
        try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of(topic));
            long end = System.currentTimeMillis() + 20_000;
            while (read < committed && System.currentTimeMillis() < end) {
                read += consumer.poll(Duration.ofMillis(200)).count();
            }
        }
        System.out.println("committed " + committed + " read " + read);
        System.exit(read == committed ? 0 : 1);
    }
}
