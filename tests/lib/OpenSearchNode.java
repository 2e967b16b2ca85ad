import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.opensearch.common.settings.Settings;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.transport.Netty4Plugin;

/** One node of OpenSearch from its jars: the folder is its home and has its opensearch.yml. */
class OpenSearchNode extends Node {
    OpenSearchNode(Path home) {
        super(
            InternalSettingsPreparer.prepareEnvironment(
                Settings.builder().put("path.home", home).build(), Map.of(), home, () -> "n1"),
            List.of(Netty4Plugin.class),
            false);
    }

    public static void main(String[] arguments) throws Exception {
        OpenSearchNode node = new OpenSearchNode(Path.of(arguments[0]));
        node.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                node.close();
            } catch (java.io.IOException problem) {
                problem.printStackTrace();
            }
        }));
        new CountDownLatch(1).await();
    }
}
