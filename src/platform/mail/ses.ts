import type { SESClient } from '@aws-sdk/client-ses';
import { oneLine } from './plain-text.js';
import type { SendResult } from './send-result.js';

export type SesConfig = { region: string; endpoint?: string };

/** Envelope and content; the addresses in the content's headers are for whoever reads it. */
export type SesMail = { source: string; destination: string; bytes: Buffer };

export type Ses = { send(mail: SesMail): Promise<SendResult>; close(): void };

/** Amazon's mail service. Its credentials are where the SDK looks for them. */
export function openSes(config: SesConfig, timeoutMs: number): Ses {
  let client: Promise<SESClient> | undefined;
  return {
    async send(mail) {
      try {
        client ??= openClient(config);
        return await sendRaw(await client, mail, timeoutMs);
      } catch (error) {
        return toFailure(error, timeoutMs);
      }
    },
    close: () => void client?.then((opened) => opened.destroy()),
  };
}

// Loaded where it is needed, and not before: that takes longer than the service's own modules do together.
const loadSdk = () => import('@aws-sdk/client-ses');

async function openClient({ region, endpoint }: SesConfig): Promise<SESClient> {
  const { SESClient } = await loadSdk();
  // one attempt, because the queue tries again, and later
  return new SESClient({ region, ...(endpoint ? { endpoint } : {}), maxAttempts: 1 });
}

async function sendRaw(client: SESClient, mail: SesMail, timeoutMs: number): Promise<SendResult> {
  const { SendRawEmailCommand } = await loadSdk();
  const command = new SendRawEmailCommand({
    Source: mail.source,
    Destinations: [mail.destination],
    RawMessage: { Data: mail.bytes },
  });
  // for all of it: the SDK's own limits end where the answer's body begins
  const answer = await client.send(command, { abortSignal: AbortSignal.timeout(timeoutMs) });
  if (!answer.MessageId) return { outcome: 'failed', reason: 'an answer without a message id' };
  return { outcome: 'sent', reference: answer.MessageId };
}

// What says no to this message and would say so again. Not what time mends, or an operator: quotas, pauses,
// credentials.
const PERMANENT_ERRORS = new Set([
  'MessageRejected',
  'MailFromDomainNotVerified',
  'MailFromDomainNotVerifiedException',
  'ConfigurationSetDoesNotExistException',
  'InvalidParameterCombination',
  'InvalidParameterValue',
  'ValidationError',
]);

/** What the SDK throws, of which no two kinds have the same fields. */
type SdkError = { name: string; message: string; code?: string; $metadata?: { httpStatusCode?: number } };

function toFailure(thrown: unknown, timeoutMs: number): SendResult {
  // as: the SDK throws errors alone, and what is missing reads as undefined
  const { name, message, code, $metadata } = thrown as SdkError;
  if (name === 'AbortError') return { outcome: 'failed', reason: `no answer within ${timeoutMs} ms` };
  const status = $metadata?.httpStatusCode;
  const reason = status ? `${name} (HTTP ${status})` : (code ?? name);
  // what others say may quote the request's own headers
  return PERMANENT_ERRORS.has(name)
    ? { outcome: 'refused', reason, detail: oneLine(message) }
    : { outcome: 'failed', reason };
}
