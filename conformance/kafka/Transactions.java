// A client as applications have it: transactions by Kafka's own producer, read back by its own
// consumer. Run as a source file: java -cp CLASSPATH Transactions.java HOST:PORT TOPIC TRANSACTIONS
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
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
        for (String id : List.of(topic + "-a", topic + "-b", topic + "-a")) {
            Map<String, Object> settings = Map.of("bootstrap.servers", bootstrap, "transactional.id", id);
            try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
                producer.initTransactions();
                for (int i = 0; i < transactions; i++) {
                    producer.beginTransaction();
                    for (int record = 0; record < 3; record++) {
                        producer.send(new ProducerRecord<>(topic, record % 2, null, id + i));
                    }
                    if (i % 3 == 2) {
                        producer.flush();
                        producer.abortTransaction();
                    } else {
                        producer.commitTransaction();
                        committed += 3;
                    }
                }
            }
        }
        Map<String, Object> settings = Map.of("bootstrap.servers", bootstrap,
            "isolation.level", "read_committed", "auto.offset.reset", "earliest");
        int read = 0;
        try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(List.of(new TopicPartition(topic, 0), new TopicPartition(topic, 1)));
            long end = System.currentTimeMillis() + 20_000;
            while (read < committed && System.currentTimeMillis() < end) {
                read += consumer.poll(Duration.ofMillis(200)).count();
            }
        }
        System.out.println("committed " + committed + " read " + read);
        System.exit(read == committed ? 0 : 1);
    }
}
