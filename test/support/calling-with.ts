import type { A2AService, CallContext, DialectSemantics } from '#protocol';

/** Wraps a service so that every call has these semantics. */
export function callingWith(service: A2AService, semantics: DialectSemantics | undefined): A2AService {
  if (semantics === undefined) return service;
  const into = (context: CallContext): CallContext => ({ ...context, semantics });
  const { push } = service;
  return {
    ...service,
    send: (asked, context) => service.send(asked, into(context)),
    stream: (asked, context) => service.stream(asked, into(context)),
    get: (asked, context) => service.get(asked, into(context)),
    list: (asked, context) => service.list(asked, into(context)),
    cancel: (asked, context) => service.cancel(asked, into(context)),
    subscribe: (asked, context) => service.subscribe(asked, into(context)),
    push: {
      create: (asked, context) => push.create(asked, into(context)),
      get: (asked, context) => push.get(asked, into(context)),
      list: (asked, context) => push.list(asked, into(context)),
      delete: (asked, context) => push.delete(asked, into(context)),
    },
  };
}
