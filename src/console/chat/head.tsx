import { useState } from 'preact/hooks';
import type { AdminConversation } from '#protocol';
import { agents } from '../agents/known.ts';
import { wordsFor } from '../api.ts';
import { go } from '../route.ts';
import { share } from '../share/button.tsx';
import { Problem, Sure, say } from '../ui/basic.tsx';
import { Choice, Menu } from '../ui/menu.tsx';
import { deleteConversation, titleOfConversation } from './listed.ts';
import { useRename } from './rename.tsx';
import type { ChatSession } from './store.ts';
import { closeChat, lastTurn } from './store.ts';

/** The agent of a conversation. One that this node does not serve has no page. */
function AgentLink({ name }: { readonly name: string }) {
  const isServed = agents.value?.some((agent) => agent.name === name) ?? false;
  return <span class="chat-agent">{isServed ? <a href={`/console/agents/${encodeURIComponent(name)}`}>{name}</a> : name}</span>;
}

/** On a narrow screen the list of conversations is a page of its own. */
function ToList() {
  return (
    <a class="to-list" href="/console/chat">
      ‹<span class="unseen"> All conversations</span>
    </a>
  );
}

/** Above a conversation that is not in the node's list. A new one needs it only on a narrow screen, for the way back. */
export function NewChatHead({ agent, words }: { readonly agent: string; readonly words: string }) {
  return (
    <div class={words === '' ? 'chat-head new' : 'chat-head'}>
      <ToList />
      {words === '' ? <h2>New conversation</h2> : <h1>{words}</h1>}
      <AgentLink name={agent} />
    </div>
  );
}

interface ChatHeadProps {
  readonly conversation: AdminConversation;
  readonly chat: ChatSession;
}

/** What a chat is called, above it, with whom it is, and what can be done with it. */
export function ChatHead({ conversation, chat }: ChatHeadProps) {
  const { field, button, onKeyDown } = useRename(conversation);
  const [problem, setProblem] = useState('');
  const { contextId, principal } = conversation;
  const taskId = lastTurn(chat)?.taskId;
  const remove = async (): Promise<void> => {
    try {
      await deleteConversation(conversation);
      closeChat(chat);
      say('Conversation deleted.');
      go('/chat');
    } catch (thrown) {
      setProblem(wordsFor(thrown));
    }
  };
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: F2 works where the focus is, on the button */}
      <div class="chat-head" onKeyDown={onKeyDown}>
        <ToList />
        {field ?? <h1>{titleOfConversation(conversation)}</h1>}
        {button}
        <AgentLink name={conversation.agent} />
        <Menu label="More" name="More about this conversation">
          {taskId === undefined ? null : <Choice onChoose={() => share(taskId, true, setProblem)}>Share as HTML</Choice>}
          <a class="choice" href={`/console/tasks?${new URLSearchParams({ contextId, principal })}`}>
            Show its tasks
          </a>
          <Sure label="Delete" onYes={() => void remove()} />
        </Menu>
      </div>
      <Problem text={problem} />
    </>
  );
}
