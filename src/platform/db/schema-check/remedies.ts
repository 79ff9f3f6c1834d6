/** A line that the migrations make otherwise. `want` is undefined if they do not make it, `have` if it is missing. */
export type Change = { kind: string; object: string; want: string | undefined; have: string | undefined };

const MIGRATIONS = 'prisma/migrations';

/** Stands in a remedy for the owner of the tables, whose name depends on the database. */
export const OWNER = ':owner';

type Text = { message: string; remedy: string };

/** Names a difference in a sentence, and says what to do. */
export function describeChange(change: Change): Text {
  const { kind, object, want, have } = change;
  switch (kind) {
    case 'row-level security':
      return describeTable(change);
    case 'grant':
    case 'other grant':
      return describeGrant(change);
    case 'policy':
    case 'trigger':
    case 'constraint':
    case 'rule':
    case 'unique index':
      return describePart(change);
    case 'references':
      return {
        message: `The triggers that check references ${object} are disabled.`,
        remedy: `Run as a superuser: alter table ${object.replace('on ', '')} enable trigger all;`,
      };
    case 'function body':
    case 'function kind':
    case 'function security':
      return describeFunction(change);
    case 'owner':
      if (want === undefined)
        return {
          message: `The ${object} is unknown to this version, and reads with the rights of ${have}.`,
          remedy: `Run as a superuser: drop ${object};`,
        };
      return {
        message: `The owner of the ${object} is ${have ?? 'missing'}, not ${ownerName(want)}.`,
        remedy: `Run as a superuser: alter ${object} owner to ${want === 'owner' ? OWNER : want};`,
      };
    case 'role':
      return {
        message: `The role ${object} has ${have ?? 'no row in pg_roles'}; the migrations give it ${want}.`,
        remedy: `Run as a superuser: alter role ${object} nosuperuser nobypassrls nologin nocreaterole nocreatedb noreplication;`,
      };
    case 'membership': {
      const [member = '', role = ''] = object.split(' in ');
      return {
        message: `The role ${member} is a member of ${role}.`,
        remedy:
          (role === 'crossdock_lookup'
            ? `If ${member} owns another deployment's database on this server, this one was restored without its owner: give it its owner as step 5 of docs/restore.md describes, and revoke nothing, because that deployment would fail. Otherwise run`
            : 'Run') + ` as a superuser: revoke ${role} from ${member};`,
      };
    }
    case 'setting':
      return {
        message: `${object} is ${have}, so triggers and references are not checked.`,
        remedy: `Reset it with alter role ... reset ${object} or alter database ... reset ${object}.`,
      };
    default:
      return describeOther(change);
  }
}

const unknown = (object: string, remedy: string): Text => ({
  message: `The ${object} is unknown to this version.`,
  remedy,
});

const missing = (object: string, remedy: string): Text => ({ message: `The ${object} is missing.`, remedy });

function describeTable({ object, want, have }: Change): Text {
  if (want === undefined) return unknown(`table ${object}`, 'Move tables of your own to another schema.');
  if (have === undefined) return missing(`table ${object}`, searchFor(nameOf(object)));
  return {
    message: `Row-level security of ${object} is ${have}; the migrations make it ${want}.`,
    remedy: `Run as the owner: alter table ${object} ${
      want.startsWith('enabled')
        ? 'enable row level security, force row level security'
        : 'disable row level security'
    };`,
  };
}

function describeGrant({ kind, object, want }: Change): Text {
  const [, privilege = '', option = '', type, name = '', role = ''] =
    /^([a-z]+)( with grant option)? on (\w+) (.+) to (\S+)$/.exec(object) ?? [];
  const column = name.slice(name.lastIndexOf('.') + 1);
  const place =
    type === 'column'
      ? `${privilege} (${column}) on ${name.slice(0, name.lastIndexOf('.'))}`
      : `${privilege} on ${type === 'table' ? '' : `${type} `}${name}`;
  if (want !== undefined)
    return {
      message: `The role ${role} lacks ${place}${option}.`,
      remedy: `Run as the owner: grant ${place} to ${role}${option};`,
    };
  const who = role === 'public' ? 'Everybody' : `The role ${role}`;
  return {
    message: `${who} has ${place}${option}, which the migrations do not grant.`,
    remedy:
      kind === 'grant'
        ? `Run as the owner: revoke ${place} from ${role};`
        : `If nobody needs it, run as the owner: revoke ${place} from ${role};`,
  };
}

/** A policy, trigger, rule, constraint or unique index of a table. */
function describePart({ kind, object, want, have }: Change): Text {
  const [name, table] = [object.slice(0, object.lastIndexOf(' on ')), tableOf(object)];
  const drop =
    kind === 'constraint'
      ? `alter table ${table} drop constraint ${name}`
      : kind === 'unique index'
        ? `drop index ${name}`
        : `drop ${kind} ${name} on ${table}`;
  if (want === undefined) return unknown(`${kind} ${object}`, `Run as the owner: ${drop};`);
  const creation = creationOf(kind, name, table, want);
  if (have === undefined) return missing(`${kind} ${object}`, `Run as the owner: ${creation};`);
  if (kind === 'trigger' && definitionOf(want) === definitionOf(have))
    return {
      message: `The ${kind} ${object} is ${stateOf(have)}, not ${stateOf(want)}.`,
      remedy: `Run as the owner: alter table ${table} enable trigger ${name};`,
    };
  return {
    message: `The ${kind} ${object} was changed to: ${have}.`,
    remedy: `Run as the owner: ${drop}; ${creation};`,
  };
}

function creationOf(kind: string, name: string, table: string, want: string): string {
  if (kind === 'policy') return `create policy ${name} on ${table} ${want}`;
  if (kind === 'constraint') return `alter table ${table} add constraint ${name} ${want}`;
  return kind === 'trigger' ? definitionOf(want) : want;
}

const stateOf = (value: string): string => value.slice(0, value.indexOf(': '));
const definitionOf = (value: string): string => value.slice(value.indexOf(': ') + 2);

function describeFunction({ kind, object, want, have }: Change): Text {
  if (want === undefined)
    return {
      message: `The function ${object} is unknown to this version, with ${have}.`,
      remedy: `Run as the owner: drop function ${object}; A function of your own belongs in another schema.`,
    };
  const definition = searchFor(nameOf(object));
  if (have === undefined) return missing(`function ${object}`, definition);
  if (kind === 'function body')
    return { message: `The body of the function ${object} was changed.`, remedy: definition };
  if (kind === 'function security')
    return {
      message: `The function ${object} has ${have}; the migrations make it ${want}.`,
      remedy: `Run as its owner: alter function ${object} ${want}.`,
    };
  return {
    message: `The function ${object} is ${have}; the migrations make it ${want}.`,
    remedy: definition,
  };
}

function describeOther({ kind, object, want, have }: Change): Text {
  if (want === undefined) return unknown(`${kind} ${object}`, 'If nobody needs it, drop it.');
  const remedy = searchFor(object.slice(object.lastIndexOf('.') + 1));
  if (have === undefined) return missing(`${kind} ${object}`, remedy);
  return { message: `The ${kind} ${object} is ${have}; the migrations make it ${want}.`, remedy };
}

const searchFor = (name: string): string =>
  `Search for ${name} in ${MIGRATIONS}, and run its last definition as the owner.`;

const tableOf = (object: string): string => object.slice(object.lastIndexOf(' on ') + ' on '.length);

/** Without schema and arguments. */
function nameOf(object: string): string {
  const [name = ''] = object.split('(');
  return name.slice(name.indexOf('.') + 1);
}

const ownerName = (name: string | undefined): string =>
  name === 'owner' ? 'the owner of the other tables' : (name ?? 'unknown');
