import type { Grammar } from '../grammar.ts';
import { samAnnouncing, samDiscovery, samHear, samLeaving } from './cards.ts';
import { openInbox } from './inbox.ts';
import { samLink } from './link.ts';
import { overhearSam, samCallTopics } from './observe.ts';
import { carrySam } from './reply.ts';
import { serveSam } from './serve.ts';

/** Solace Agent Mesh (seeds/003, reference/dialects §4). */
export const samGrammar: Grammar = {
  id: 'sam',
  serve: serveSam,
  carry: carrySam,
  call: async (self, place) => {
    const inbox = await openInbox(self, place);
    return { link: (options) => samLink({ self, place, inbox, options, learned: { isOurs: false } }), close: inbox.close };
  },
  announcing: samAnnouncing,
  leaving: samLeaving,
  discovery: samDiscovery,
  hear: samHear,
  calls: { topics: samCallTopics, overhear: overhearSam },
};
