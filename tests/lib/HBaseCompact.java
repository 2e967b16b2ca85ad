import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.ConnectionFactory;

/** Writes the rows of a table to files and merges these, as HBase does by itself after some time. */
public class HBaseCompact {
    public static void main(String[] args) throws Exception {
        var table = TableName.valueOf(args[0]);
        try (var connection = ConnectionFactory.createConnection(HBaseConfiguration.create());
                var admin = connection.getAdmin()) {
            admin.flush(table);
            admin.majorCompact(table);
            // It begins some time after it was asked for.
            for (var idle = 0; idle < 5; Thread.sleep(1000)) {
                var state = admin.getCompactionState(table);
                idle = state == CompactionState.NONE ? idle + 1 : 0;
            }
        }
    }
}
