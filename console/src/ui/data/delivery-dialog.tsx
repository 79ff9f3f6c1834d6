import type { WebhookAttempt, WebhookExchange } from '../../../../sdk/typescript/src/index.js';
import { api } from '../../session/session.js';
import { dateTime, number, t, textOf } from '../../texts/texts.js';
import { useLoad } from '../load.js';
import { Content, Dialog, Tag } from '../parts.js';

type Props = { deliveryId: string; type: string; onClose: () => void };

/** One webhook, with what was sent and answered in each attempt. */
export function DeliveryDialog({ deliveryId, type, onClose }: Props) {
  const delivery = useLoad(
    async (signal) => (await api().webhooks.delivery({ delivery_id: deliveryId }, { signal })).data,
    [deliveryId],
  );
  return (
    <Dialog title={t('hooks.delivery', { type })} onClose={onClose}>
      <Content of={delivery}>
        {({ attempts, exchanges }) => (
          <div class="stack" data-testid="delivery">
            <p class="muted">{t('hooks.masked')}</p>
            {attempts.length === 0 && <p>{t('hooks.noAttempt')}</p>}
            {attempts.toReversed().map((attempt) => (
              <Attempt
                key={attempt.number}
                attempt={attempt}
                exchange={exchanges.find((each) => each.number === attempt.number)}
              />
            ))}
          </div>
        )}
      </Content>
    </Dialog>
  );
}

type AttemptProps = { attempt: WebhookAttempt; exchange: WebhookExchange | undefined };

/** An attempt, the newest first. */
function Attempt({ attempt, exchange }: AttemptProps) {
  const { number: position, outcome, http_status, error, started_at, duration_ms } = attempt;
  return (
    <section class="card stack">
      <div class="heading">
        <h3>{t('hooks.attempt', { number: position })}</h3>
        <Tag tint={outcome === 'delivered' ? 'good' : 'bad'}>
          {[textOf('outcome', outcome), http_status].filter(Boolean).join(' · ')}
        </Tag>
      </div>
      <p class="muted">
        {dateTime(started_at)} · {t('hooks.took', { ms: number(duration_ms) })}
      </p>
      {error && <p>{error}</p>}
      {exchange ? <Exchange of={exchange} /> : <p class="muted">{t('hooks.notKept')}</p>}
    </section>
  );
}

function Exchange({ of: { request, response } }: { of: WebhookExchange }) {
  return (
    <>
      <h4>{t('hooks.request')}</h4>
      <p class="mono break">POST {request.url}</p>
      <Message
        headers={request.headers}
        body={request.body}
        isCut={request.body.length > 0 && new Blob([request.body]).size < request.body_bytes}
      />
      <h4>{t('hooks.response')}</h4>
      {response ? (
        <Message
          headers={response.headers}
          areHeadersCut={response.headers_are_cut}
          body={response.body}
          isCut={response.is_cut}
        />
      ) : (
        <p>{t('hooks.noResponse')}</p>
      )}
    </>
  );
}

type MessageProps = {
  headers: Record<string, string>;
  areHeadersCut?: boolean;
  body: string;
  isCut: boolean;
};

function Message({ headers, areHeadersCut = false, body, isCut }: MessageProps) {
  return (
    <>
      <details>
        <summary>{t('hooks.headers')}</summary>
        <pre class="code" tabIndex={0}>
          {Object.entries(headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join('\n')}
        </pre>
        {areHeadersCut && <p class="muted">{t('hooks.cut')}</p>}
      </details>
      {body === '' ? (
        <p class="muted">{t('hooks.empty')}</p>
      ) : (
        <pre class="code" tabIndex={0} aria-label={t('hooks.body')} role="group">
          {readable(body)}
        </pre>
      )}
      {isCut && <p class="muted">{t('hooks.cut')}</p>}
    </>
  );
}

/** JSON with line breaks. Any other text, and JSON that was cut, as it is. */
function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
