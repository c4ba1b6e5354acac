package peer;

import com.google.gson.Gson;
import io.a2a.A2A;
import io.a2a.spec.AgentCard;
import java.util.List;
import java.util.Map;

/** `Cards URL FORM` prints the schemes that a card requires. */
public final class Cards {
    public static void main(String[] args) {
        AgentCard card = A2A.getAgentCard(args[0], "/.well-known/agent-card.json?card=" + args[1], Map.of());
        List<String> names = card.securityRequirements().stream().flatMap(each -> each.schemes().keySet().stream()).toList();
        System.out.println(new Gson().toJson(names));
    }
}
