import type { IntegrationCheck } from '../../../sdk/typescript/src/index.js';
import { settings } from '../device/settings.js';
import { number, t, textOf } from '../texts/texts.js';
import { Tag } from '../ui/parts.js';
import { diagnosesEs } from './diagnoses-es.js';

type Finding = IntegrationCheck['findings'][number];
type Requested = IntegrationCheck['requests'][number];

/** The verdict of a check, each finding with its remedy, and what was sent. */
export function CheckResult({ of: check }: { of: IntegrationCheck }) {
  const { status, verdict, findings, requests, error, url } = check;
  if (status === 'queued' || status === 'running') return <p>{t('check.running')}</p>;
  const outcome = verdict ?? 'failed';
  return (
    <div class="stack" data-testid="check-result">
      <p class={outcome === 'healthy' ? 'success' : 'problem'}>{textOf('check', outcome)}</p>
      {error && <p>{error}</p>}
      {url && <p class="mono break">{url}</p>}
      {findings.map((finding) => (
        <FindingCard key={finding.code} finding={finding} request={requestOf(requests, finding)} />
      ))}
      {requests.length > 0 && (
        <details>
          <summary>{t('check.requests')}</summary>
          <ol class="stack">
            {requests.map((request) => (
              <li key={request.number}>
                {textOf('check', request.purpose)}: {resultOf(request)} ·{' '}
                {t('check.took', { ms: number(request.duration_ms) })}
              </li>
            ))}
          </ol>
        </details>
      )}
    </div>
  );
}

const requestOf = (requests: Requested[], { evidence }: Finding) =>
  requests.find((each) => each.number === evidence.request);

const resultOf = ({ http_status, error }: Requested): string =>
  http_status === null ? (error ?? t('check.noResponse')) : String(http_status);

const TINTS = { error: 'bad', warning: 'warn', info: 'plain' } as const;

const tintOf = (severity: string) => (severity in TINTS ? TINTS[severity as keyof typeof TINTS] : 'plain');

function FindingCard({ finding, request }: { finding: Finding; request: Requested | undefined }) {
  const { code, severity, evidence } = finding;
  const { meaning, remedy } = textsOf(finding);
  return (
    <section class="card stack" data-testid="finding">
      <div class="heading">
        <h3>{meaning}</h3>
        <Tag tint={tintOf(severity)}>{textOf('check', severity)}</Tag>
      </div>
      <p>
        <strong>{t('check.remedy')}:</strong> {remedy}
      </p>
      <details>
        <summary>{t('check.evidence')}</summary>
        <p class="mono">{code}</p>
        {request && (
          <p>
            {t('check.request', {
              number: request.number,
              purpose: textOf('check', request.purpose),
              result: resultOf(request),
            })}
          </p>
        )}
        {evidence.detail && <p class="mono break">{evidence.detail}</p>}
        {evidence.response_start && (
          <pre class="code" tabIndex={0}>
            {evidence.response_start}
          </pre>
        )}
      </details>
    </section>
  );
}

/** The texts of the service are in English. A code that a later version adds has no others. */
function textsOf({ code, meaning, remedy }: Finding): { meaning: string; remedy: string } {
  const own = settings.value.language === 'es' ? diagnosesEs[code] : undefined;
  return own ? { meaning: own[0], remedy: own[1] } : { meaning: plain(meaning), remedy: plain(remedy) };
}

/** Without the marks of code, which are for the documentation. */
const plain = (text: string): string => text.replaceAll('`', '');
