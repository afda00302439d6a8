package io.github.scarce_rs;

import static io.github.scarce_rs.Servers.variable;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example of the README, run against a server. */
final class ReadmeTest {
    @TempDir
    private Path folder;

    private static String block(String page, String language) {
        var found = Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL).matcher(page);
        assertEquals(true, found.find(), language);
        return found.group(1);
    }

    @Test
    void theExamplePrintsWhatTheReadmeSays() throws IOException, InterruptedException {
        variable("SCARCE_URL");
        var page = Files.readString(Path.of("README.md"));
        var file = folder.resolve("Example.java");
        Files.writeString(file, block(page, "java"));
        var own = System.getProperty("java.class.path");
        var classes = System.getProperty("surefire.test.class.path", own);
        var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        var process = new ProcessBuilder(java, "-cp", classes, file.toString()).redirectErrorStream(true).start();
        var shown = new String(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor(), shown);
        assertEquals(block(page, "text"), shown);
    }
}
