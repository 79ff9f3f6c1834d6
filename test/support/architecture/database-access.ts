import ts from 'typescript';
import { importsOf } from './imports.js';
import { findNodes, type Source } from './source.js';

const AMBIENT_STATE = new Set(['AsyncLocalStorage', 'AsyncResource', 'WeakSet']);

/** Returns the uses of ambient state. The permissions of a request must be visible in its context argument. */
export const findAmbientState = (source: Source): string[] =>
  findNodes(
    source,
    (node) =>
      (ts.isIdentifier(node) && AMBIENT_STATE.has(node.text)) ||
      (ts.isStringLiteral(node) && /^(node:)?async_hooks$/.test(node.text)),
  );

/** Modules reach the database through their context, so they import nothing that opens a connection or a transaction. */
const OPENERS = /^src\/platform\/db\/(transactions\/.*|open-database|connections\/.*)\.ts$/;

/** Returns the imports and calls with which a module opens a connection or a transaction. Type imports are allowed. */
export function findConnections(source: Source): string[] {
  const imports = importsOf(source).filter(({ to, isType }) => !isType && OPENERS.test(to));
  return [
    ...imports.map(({ from, to }) => `${from} -> ${to}`),
    ...findNodes(source, (node) => isConnectionCall(node) || isDriverImport(node)),
  ];
}

/** `new Pool()`, `pool.connect()`, `pool.query()`, `prisma.$transaction()`, `prisma.user.findFirst()`. */
function isConnectionCall(node: ts.Node): boolean {
  if (ts.isNewExpression(node))
    return /(^|\.)(Pool|Client|PrismaClient|PrismaPg)$/.test(node.expression.getText());
  if (!ts.isCallExpression(node)) return false;
  const callee = node.expression.getText();
  return /(^|\.)(pool|prisma)\./.test(callee) || /\.\$(transaction|queryRaw|executeRaw)/.test(callee);
}

function isDriverImport(node: ts.Node): boolean {
  if (!ts.isImportDeclaration(node) || !ts.isStringLiteral(node.moduleSpecifier)) return false;
  if (node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword) return false;
  return /^(pg|@prisma\/.*)$|generated\/prisma\//.test(node.moduleSpecifier.text);
}

/** Statements with which a transaction waits for an advisory lock until its end. */
const LOCK_CALL = /pg_advisory_xact_lock/;

/** These files have connections of their own, and take one lock. */
const LOCKERS = new Set([
  'fixtures/demo/seed.ts',
  'src/platform/db/connections/pooler.ts',
  'src/platform/db/connections/roles.ts',
  'src/platform/db/locks.ts',
  'src/platform/db/tenant-move/fence.ts',
]);

/** Returns the statements that take an advisory lock whose order no transaction checks. Statements of locks.ts name their locks. */
export const findUncheckedLocks = (source: Source): string[] =>
  LOCKERS.has(source.path) ? [] : findNodes(source, (node) => isText(node) && LOCK_CALL.test(node.getText()));

const isText = (node: ts.Node): boolean =>
  ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node);
