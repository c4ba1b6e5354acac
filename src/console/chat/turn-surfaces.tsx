import type { JsonObject } from '#protocol';
import { a2uiMessagesIn, a2uiParts } from '#protocol';
import { Surfaces } from '../a2ui/lazy.tsx';
import type { SurfaceClick } from '../a2ui/pen.tsx';
import type { DrawnSurface } from '../a2ui/surfaces.ts';
import { readSurfaces } from '../a2ui/surfaces.ts';
import type { ChatSession } from './store.ts';
import { sayIn } from './store.ts';
import type { ChatTurn } from './turn.ts';

/** The A2UI messages of a turn, in artifacts and messages. */
function messagesOf(turn: ChatTurn): readonly JsonObject[] {
  const parts = [...turn.shown.values()].flatMap((shown) => shown.parts);
  const said = [turn.direct, turn.closing].flatMap((message) => message?.parts ?? []);
  return [...parts, ...said].flatMap((part) => a2uiMessagesIn(part));
}

/** The surfaces that an agent began in a turn, with all that later turns changed in them. */
export function TurnSurfaces({ chat, turn }: { readonly chat: ChatSession; readonly turn: ChatTurn }) {
  if (messagesOf(turn).length === 0) return null;
  const turns = (chat.entries.value ?? []).flatMap((entry) => (entry.by === 'agent' ? [entry.turn] : []));
  const batches = turns.map((each) => {
    void each.version.value;
    return messagesOf(each);
  });
  const { surfaces, unread } = readSurfaces(batches);
  const own = turns.indexOf(turn);
  return (
    <Surfaces
      surfaces={surfaces.filter(({ batch }) => batch === own)}
      unread={unread.filter(({ batch }) => batch === own).map(({ message }) => message)}
      onClick={(surface, click) => void sayClick(chat, surface, click)}
    />
  );
}

/** A click is the next message of the conversation. */
async function sayClick(chat: ChatSession, { id, version, sendsData }: DrawnSurface, click: SurfaceClick): Promise<void> {
  const { name, sourceComponentId, context, label, data } = click;
  const action = { name, surfaceId: id, sourceComponentId, timestamp: new Date().toISOString(), context };
  const message: JsonObject = version === 'v0.8' ? { userAction: action } : { version, action };
  const model = sendsData ? { metadata: { a2uiClientDataModel: { version, surfaces: { [id]: data } } } } : {};
  await sayIn(chat, a2uiParts([message], version), { chosen: label === '' ? name : label, ...model });
}
