import type { Announcement, Grammar, MeshContext, Stop } from '../grammars/grammar.ts';

/** What `keepAnnouncing` publishes, and where. */
export interface Announcing {
  readonly grammar: Grammar;
  readonly mesh: MeshContext;
  readonly announcement: Announcement;
  readonly announceMs: number;
}

/**
 * Publishes the card at once, repeatedly, and after every reconnect, because the broker may have lost
 * everything.
 */
export async function keepAnnouncing(announcing: Announcing): Promise<Stop> {
  const { grammar, mesh, announcement, announceMs } = announcing;
  const { broker } = mesh;
  const isNameTaken = watchForSameName(announcing);
  const publish = async (): Promise<void> => {
    if (broker.isConnected) await broker.publish(grammar.onlineMessage(announcement, mesh));
  };
  const reportFailure = (thrown: unknown): void => mesh.report(`the card of ${announcement.name} could not be published`, thrown);
  const onReconnect = async (): Promise<void> => {
    if (!(await isNameTaken())) return publish();
    mesh.report(`another process is ${announcement.name} on this broker; this process has left it`);
    await broker.close();
  };
  await publish();
  const timer = grammar.retainsCards ? undefined : setInterval(() => void publish().catch(reportFailure), announceMs);
  const stopListening = broker.onConnectionChange((isConnected) => {
    if (isConnected) onReconnect().catch(reportFailure);
  });
  return async () => {
    clearInterval(timer);
    stopListening();
    if (broker.isConnected) await broker.publish(grammar.offlineMessage(announcement, mesh)).catch(() => undefined);
  };
}

const RETAINED_MS_MAX = 500;
/**
 * Two disconnects within this time count as a second process with the same name, also if the broker
 * retains no card of it.
 */
const REPEATED_MS = 10_000;

/** Returns a function that says, after a reconnect, whether another process has this name. */
function watchForSameName({ grammar, mesh, announcement }: Announcing): () => Promise<boolean> {
  const { ownerOfCard } = grammar;
  if (ownerOfCard === undefined || announcement.instance === undefined) return async () => false;
  const { topic } = grammar.onlineMessage(announcement, mesh);
  let suspectedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    const retained = Promise.withResolvers<ReturnType<typeof ownerOfCard>>();
    const timer = setTimeout(() => retained.resolve(undefined), RETAINED_MS_MAX);
    const stop = await mesh.broker.subscribe({ filter: topic, handle: (message) => retained.resolve(ownerOfCard(message, announcement)) });
    const owner = await retained.promise;
    clearTimeout(timer);
    await stop();
    if (owner !== 'gone') return owner === 'other';
    const isRepeated = performance.now() - suspectedAt < REPEATED_MS;
    suspectedAt = performance.now();
    return isRepeated;
  };
}
