package peer;

import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.QuarkusApplication;
import io.quarkus.runtime.annotations.QuarkusMain;

/** The server, on `-Dquarkus.http.port`. It says `ready` when it accepts requests. The client has a main method of its own. */
@QuarkusMain
public class Main implements QuarkusApplication {
    @Override
    public int run(String... args) {
        System.out.println("ready");
        Quarkus.waitForExit();
        return 0;
    }
}
