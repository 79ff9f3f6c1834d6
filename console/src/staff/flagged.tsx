import { useState } from 'preact/hooks';
import type { Prealert } from '../../../sdk/typescript/src/index.js';
import { api } from '../session/session.js';
import { OwnerlessParcels } from '../owners/ownerless.js';
import { ReviewDialog } from '../owners/review-dialog.js';
import { dateTime, t } from '../texts/texts.js';
import { useLoad } from '../ui/load.js';
import { Content, Empty, Heading, Tag } from '../ui/parts.js';
import { officeLink } from '../ui/router.js';

const SHOWN = 200;

export function FlaggedPage() {
  const flagged = useLoad(
    (signal) =>
      api().prealerts.list(
        { status: 'flagged', limit: SHOWN, sort_by: 'tracking_number', sort_dir: 'ASC' },
        { signal },
      ),
    [],
  );
  const [reviewed, setReviewed] = useState<Prealert>();
  const [said, setSaid] = useState('');
  const claimsOf = ({ tracking_number }: Prealert) =>
    flagged.data?.data.filter((each) => each.tracking_number === tracking_number) ?? [];
  return (
    <>
      <Heading title={t('flagged.title')}>
        <a class="button" href={officeLink('unknown')}>
          {t('flagged.unknown')}
        </a>
      </Heading>
      <p class="lead">{t('flagged.lead')}</p>
      <p role="status" class={said ? 'success' : undefined} data-testid="reviewed">
        {said}
      </p>
      <Content of={flagged}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={t('flagged.none')}>{t('flagged.noneHint')}</Empty>
          ) : (
            <ul class="groups">
              {claimsByNumber(data).map(([number, claims]) => (
                <Claims key={number} number={number} claims={claims} onReview={setReviewed} />
              ))}
            </ul>
          )
        }
      </Content>
      <OwnerlessParcels />
      {reviewed && (
        <ReviewDialog
          prealert={reviewed}
          isLast={claimsOf(reviewed).length === 1}
          onClose={() => setReviewed(undefined)}
          onDone={(done) => {
            setSaid(done);
            setReviewed(undefined);
            flagged.reload();
          }}
        />
      )}
    </>
  );
}

function claimsByNumber(prealerts: Prealert[]): [number: string, claims: Prealert[]][] {
  const claims = new Map<string, Prealert[]>();
  for (const prealert of prealerts) {
    const { tracking_number } = prealert;
    claims.set(tracking_number, [...(claims.get(tracking_number) ?? []), prealert]);
  }
  return [...claims];
}

/** All claims to one parcel. */
function Claims({
  number,
  claims,
  onReview,
}: {
  number: string;
  claims: Prealert[];
  onReview: (prealert: Prealert) => void;
}) {
  return (
    <li class="card">
      <div class="heading">
        <h2 class="mono">{number}</h2>
        <Tag tint="warn">{t('flagged.claims', { count: claims.length })}</Tag>
      </div>
      <ul class="claims">
        {claims.map((claim) => (
          <li key={claim.prealert_id}>
            <span class="strong">
              {[claim.user_code, claim.first_name, claim.last_name].filter(Boolean).join(' ')}
            </span>
            <span>{claim.courier_name}</span>
            <span class="muted">
              {[claim.vendor, claim.reference, dateTime(claim.created_at)].filter(Boolean).join(' · ')}
            </span>
            <button type="button" onClick={() => onReview(claim)}>
              {t('flagged.review')}
              <span class="unseen"> {claim.user_code}</span>
            </button>
          </li>
        ))}
      </ul>
    </li>
  );
}
