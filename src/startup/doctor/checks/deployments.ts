import { identityOfProcess } from '../../../config/command-settings.js';
import { PUBLISHED } from '../../../config/published.js';
import { readValues } from '../../../platform/db/connections/rows.js';
import { findPublished } from '../../published-credentials.js';
import { findRefusal, nameOf, takeOverLine } from '../../database-owner.js';
import {
  areTokenKeysNew,
  describeDeployment,
  readDeployments,
  TOKEN_KEY_NAMES,
  type Deployment,
  type RecordedDeployment,
} from '../../deployment.js';
import { orOk, problem, warning, type Finding } from '../../shared-checks/finding.js';
import type { Connected, Subject } from './subject.js';
import { commandLine } from '../../../config/commands.js';

/** Finds another deployment that has used this database, and secrets of this one that it has. */
export async function checkDeployments({ client, config }: Connected): Promise<Finding[]> {
  const own = describeDeployment(config);
  const recorded = await readDeployments(client);
  const others = recorded
    .filter(({ name, appEnv }) => name !== own.name || appEnv !== own.appEnv)
    .sort((one, other) => one.seenAt.getTime() - other.seenAt.getTime());
  const database = await nameOf(client);
  // Of another environment, the lines below say the same.
  const isOwn = others.every(({ appEnv }) => appEnv === own.appEnv);
  const refusal = isOwn ? await findRefusal(client, identityOfProcess(config)) : undefined;
  return orOk(
    [
      ...others.flatMap((other) => [
        describeOther(own, other, database),
        ...(isSame(own, other) ? [] : compareSecrets(own, other)),
      ]),
      refusal !== undefined && problem(refusal, 'Until then no server and no worker starts.'),
      !refusal && areTokenKeysNew(recorded, own) && OTHER_TOKEN_KEYS,
    ],
    `Only the deployment ${own.name} has used this database.`,
  );
}

const OTHER_TOKEN_KEYS = warning(
  'No key of TOKEN_KEYS was given at the last start of a server or worker.',
  'If they were replaced after a leak, restart every server. Otherwise give the TOKEN_KEYS of this deployment.',
);

const describeOther = (own: Deployment, other: RecordedDeployment, database: string): Finding => {
  const { name, appEnv, seenAt } = other;
  return problem(
    `This database was used by the deployment ${name} (APP_ENV=${appEnv}), last on ${seenAt.toISOString()}.`,
    isSame(own, other)
      ? `It has the same keys. If one of the names ${name} and ${own.name} is a typing error, or the deployment has a new name: correct DEPLOYMENT in every process, ` +
          `restart them, and run ${takeOverLine(name, database)} with the right name. ${copyRemedy(name, database)}`
      : `If it belongs to that deployment, correct DATABASE_URL. ${copyRemedy(name, database)}`,
  );
};

/** Only one deployment under two names has the same keys and the same environment, or a copy whose secrets were not replaced. */
const isSame = (own: Deployment, other: Deployment): boolean =>
  own.appEnv === other.appEnv &&
  ['ENCRYPTION_KEYS', 'LOOKUP_KEY'].every((setting) =>
    own.fingerprints[setting]?.some((print) => other.fingerprints[setting]?.includes(print)),
  );

const copyRemedy = (name: string, database: string): string =>
  `If it is a copy: replace every secret, and run ${commandLine('anonymise')} as docs/staging.md describes. ` +
  `To keep the data as they are, stop what uses the database, and run ${takeOverLine(name, database)}.`;

/** Compares the secrets with those of another deployment, whose report the operator provides. */
export function checkOther({ config, other }: Subject): Finding[] {
  if (!other) return [];
  return orOk(
    compareSecrets(describeDeployment(config), other),
    `No secret is the same as in the deployment ${other.name}.`,
  );
}

const compareSecrets = (own: Deployment, other: Deployment): Finding[] =>
  Object.entries(own.fingerprints)
    .filter(([setting]) => setting !== TOKEN_KEY_NAMES)
    .filter(([setting, prints]) => prints.some((print) => other.fingerprints[setting]?.includes(print)))
    .map(([setting]) =>
      problem(
        `${setting} contains a secret of the deployment ${other.name} (APP_ENV=${other.appEnv}).`,
        'Give each deployment its own secrets, as "Changing secrets" in docs/operations.md describes.',
      ),
    );

/** Finds the demo tenants, and published credentials in any tenant. Staging and production do not start with them. */
export async function checkPublished({ client, config }: Connected): Promise<Finding[]> {
  if (config.appEnv === 'development') return orOk([], 'Development may contain the demo data.');
  const published = await findPublished(client, config);
  const demo = 'select id from all_tenants() as id where id = any($1)';
  const ids = await readValues<string>(client, demo, [Object.values(PUBLISHED.tenantIds)]);
  return orOk(
    [
      ...published.map(({ message, remedy }) => problem(message, remedy)),
      ...ids.map((id) =>
        warning(
          `The database contains the demo tenant ${id}.`,
          'Nobody can use it without a published credential. A new database does not contain it.',
        ),
      ),
    ],
    'The database contains no demo data and no published credential.',
  );
}
