import type { SESClient } from '@aws-sdk/client-ses';
import type { SesConfig } from '../../config/config.js';
import { silenceSdkWarning } from '../../config/environments.js';
import { oneLine } from './plain-text.js';
import type { SendResult } from './send-result.js';

/** The envelope and the content. SES uses the envelope's addresses, not those in the content's headers. */
type SesMail = { source: string; destination: string; bytes: Buffer };

/** Opens Amazon SES. Without credentials in the settings, the SDK finds them itself: a profile, or the role of the machine. */
export function openSes(config: SesConfig, timeoutMs: number) {
  let client: Promise<SESClient> | undefined;
  return {
    async send(mail: SesMail): Promise<SendResult> {
      try {
        client ??= openClient(config);
        return await sendRaw(await client, mail, timeoutMs);
      } catch (error) {
        return toFailure(error, timeoutMs);
      }
    },
    close: (): void => void client?.then((opened) => opened.destroy()),
  };
}

/** Loaded on first use, because it takes longer to load than all modules of the service together. */
function loadSdk(): Promise<typeof import('@aws-sdk/client-ses')> {
  silenceSdkWarning();
  return import('@aws-sdk/client-ses');
}

async function openClient({ region, endpoint, credentials }: SesConfig): Promise<SESClient> {
  const { SESClient } = await loadSdk();
  return new SESClient({
    region,
    ...(endpoint ? { endpoint } : {}),
    ...(credentials ? { credentials } : {}),
    // One attempt, because the job queue retries with backoff.
    maxAttempts: 1,
  });
}

/** Returns the URL that mail is sent to, and why there are no credentials if there are none. Sends nothing. */
export async function inspectSes(config: SesConfig): Promise<{ url: URL; missing: string | undefined }> {
  const client = await openClient(config);
  try {
    const { url } = client.config.endpointProvider({ Region: config.region, Endpoint: config.endpoint });
    const missing = await client.config.credentials().then(() => undefined, String);
    return { url, missing };
  } finally {
    client.destroy();
  }
}

async function sendRaw(client: SESClient, mail: SesMail, timeoutMs: number): Promise<SendResult> {
  const { SendRawEmailCommand } = await loadSdk();
  const command = new SendRawEmailCommand({
    Source: mail.source,
    Destinations: [mail.destination],
    RawMessage: { Data: mail.bytes },
  });
  // A timeout for the whole call, because the SDK's own timeouts do not cover the response's body.
  const response = await client.send(command, { abortSignal: AbortSignal.timeout(timeoutMs) });
  if (!response.MessageId) return { outcome: 'failed', reason: 'a response without a message id' };
  return { outcome: 'sent', reference: response.MessageId };
}

// Permanent errors for this message. Quotas, paused sending and invalid credentials are not listed, because a later attempt
// may succeed.
const PERMANENT_ERRORS = new Set([
  'MessageRejected',
  'MailFromDomainNotVerified',
  'MailFromDomainNotVerifiedException',
  'ConfigurationSetDoesNotExistException',
  'InvalidParameterCombination',
  'InvalidParameterValue',
  'ValidationError',
]);

/** The fields of the SDK's errors. Each kind of error has only some of them. */
type SdkError = { name: string; message: string; code?: string; $metadata?: { httpStatusCode?: number } };

function toFailure(thrown: unknown, timeoutMs: number): SendResult {
  // The SDK only throws errors, and a missing field is undefined.
  const { name, message, code, $metadata } = thrown as SdkError;
  if (name === 'AbortError') return { outcome: 'failed', reason: `no response within ${timeoutMs} ms` };
  const status = $metadata?.httpStatusCode;
  const reason = status ? `${name} (HTTP ${status})` : (code ?? name);
  // Messages of other errors may contain the request's headers, so only the code is logged.
  return PERMANENT_ERRORS.has(name)
    ? { outcome: 'refused', reason, detail: oneLine(message) }
    : { outcome: 'failed', reason };
}
