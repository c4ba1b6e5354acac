import type { Message } from '@a2a-js/sdk';
import { Role } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';

type SdkSendRequest = Parameters<Client['sendMessage']>[0] & { readonly message: Message };

interface Wanted {
  readonly messageId?: string;
}

/** A blocking text message for the official client, whose types require every member. */
export function sdkRequest(text: string, { messageId = crypto.randomUUID() }: Wanted = {}): SdkSendRequest {
  return {
    tenant: '',
    metadata: undefined,
    configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: false },
    message: {
      messageId,
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' }],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
  };
}
