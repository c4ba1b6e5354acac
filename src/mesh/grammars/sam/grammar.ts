import type { Grammar } from '../grammar.ts';
import { readSamDiscovery, recognisesRepeats, samDiscoveryFilters, samName, samOfflineMessage, samOnlineMessage } from './cards.ts';
import { resolveContent } from './embeds/content.ts';
import { openInbox } from './inbox.ts';
import { samLink } from './link.ts';
import { readSamCall, samCallTopics } from './observe.ts';
import { publishSamReply } from './reply.ts';
import { serveSam } from './serve.ts';
import { getA2ABaseTopic } from './topics.ts';

/** The grammar of Solace Agent Mesh (docs/dialects/sam.md), and the default of `joinMesh`. */
export const samGrammar: Grammar = {
  id: 'sam',
  topicName: samName,
  usesCardNames: true,
  checkNamespace: (namespace) => void getA2ABaseTopic(namespace),
  retainsCards: false,
  announcesGateways: true,
  serve: serveSam,
  publishReply: publishSamReply,
  call: async (self, mesh) => {
    const inbox = await openInbox(self, mesh);
    return {
      link: (options) => samLink({ self, mesh, inbox, options, peer: { isParley: false } }),
      recognisesRepeats,
      quoteReader: (card) => (recognisesRepeats(card) ? undefined : resolveContent),
      close: inbox.close,
    };
  },
  onlineMessage: samOnlineMessage,
  offlineMessage: samOfflineMessage,
  discoveryFilters: samDiscoveryFilters,
  readDiscovery: readSamDiscovery,
  observation: { topics: samCallTopics, read: readSamCall },
};
