import ts from 'typescript';
import { findNodes, type Source } from './source.js';

/** `expect(rows.every(isOwn)).toBe(true)` passes for no rows, and its failure does not name the wrong one. */
export const findQuantifiers = (source: Source): string[] =>
  findNodes(source, (node) => isExpect(node) && holds(node.arguments[0], isQuantifier));

/** An assertion that runs only after a failure passes when nothing fails. */
export const findCaughtAssertions = (source: Source): string[] =>
  findNodes(source, (node) => isExpect(node) && isInCatch(node));

/** `expect(1 + 1).toBe(2)`: nothing that the tested code does can change it. */
export const findConstants = (source: Source): string[] =>
  findNodes(source, (node) => isExpect(node) && isConstant(node.arguments[0]));

/** jest does not check types, so `@ts-expect-error` in a test proves nothing. `npm run types` checks them in files of types. */
export const findTypeAssertions = ({ path, text }: Source): string[] =>
  text
    .split('\n')
    .flatMap((line, n) =>
      /^\s*\/\/ @ts-expect-error\b/.test(line) ? [`${path}:${n + 1}: ${line.trim()}`] : [],
    );

/**
 * A check that nothing matches a pattern passes for every pattern that is wrong. So the pattern comes from `matching`, which
 * shows that it matches a sample.
 */
export const findUnprovenPatterns = (source: Source): string[] =>
  findNodes(source, (node) => {
    const call = assertionOf(node);
    if (!call) return false;
    const { matcher, isNegated, subject } = call;
    if (matcher === 'toMatch' && isNegated) return !isProven(call.expected);
    return findsNothing(call) && holds(subject, isSearch);
  });

/** `expect(subject).not.matcher(expected)` */
type Assertion = {
  matcher: string;
  isNegated: boolean;
  subject: ts.Expression | undefined;
  expected: ts.Expression | undefined;
};

function assertionOf(node: ts.Node): Assertion | undefined {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  const names: string[] = [];
  let callee: ts.Expression = node.expression;
  while (ts.isPropertyAccessExpression(callee)) {
    names.push(callee.name.text);
    callee = callee.expression;
  }
  if (!isExpect(callee)) return undefined;
  const [matcher = ''] = names;
  return {
    matcher,
    isNegated: names.includes('not'),
    subject: callee.arguments[0],
    expected: node.arguments[0],
  };
}

/** Whether the assertion says that nothing is found. */
const findsNothing = ({ matcher, isNegated, expected }: Assertion): boolean =>
  !isNegated &&
  ((matcher === 'toEqual' &&
    expected !== undefined &&
    ts.isArrayLiteralExpression(expected) &&
    expected.elements.length === 0) ||
    (matcher === 'toHaveLength' && expected?.getText() === '0') ||
    matcher === 'toBeUndefined');

/** `list.filter((each) => /pattern/.test(each))`. A negated test selects what does not match, so a wrong pattern selects much. */
const isSearch = (node: ts.Node): boolean =>
  isMethodCall(node, ['filter', 'find']) &&
  node.arguments.some((callback) => contains(callback, isUnprovenTest));

const isUnprovenTest = (node: ts.Node): boolean =>
  isMethodCall(node, ['test']) &&
  ts.isPropertyAccessExpression(node.expression) &&
  !isProven(node.expression.expression) &&
  !ts.isPrefixUnaryExpression(node.parent);

/** Whether the expression is `matching(...)`, or a variable of the file that is. */
function isProven(expression: ts.Expression | undefined): boolean {
  if (expression === undefined) return false;
  if (ts.isCallExpression(expression)) return expression.expression.getText() === 'matching';
  return ts.isIdentifier(expression) && isProven(initializerOf(expression));
}

const isExpect = (node: ts.Node): node is ts.CallExpression =>
  ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'expect';

const isQuantifier = (node: ts.Node): boolean => isMethodCall(node, ['every', 'some']);

function isMethodCall(node: ts.Node, names: string[]): node is ts.CallExpression {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  return names.includes(node.expression.name.text);
}

function isInCatch(node: ts.Node): boolean {
  for (let inner = node, outer = node.parent; !ts.isSourceFile(outer); inner = outer, outer = outer.parent) {
    if (ts.isCatchClause(outer)) return true;
    if (isMethodCall(outer, ['catch']) && outer.arguments.includes(inner as ts.Expression)) return true;
    if (isMethodCall(outer, ['then']) && outer.arguments[1] === inner) return true;
  }
  return false;
}

function isConstant(expression: ts.Expression | undefined): boolean {
  if (expression === undefined) return true;
  if (ts.isParenthesizedExpression(expression) || ts.isAsExpression(expression))
    return isConstant(expression.expression);
  if (ts.isPrefixUnaryExpression(expression)) return isConstant(expression.operand);
  if (ts.isBinaryExpression(expression)) return isConstant(expression.left) && isConstant(expression.right);
  if (ts.isIdentifier(expression)) {
    const initializer = initializerOf(expression);
    return initializer !== undefined && isConstant(initializer);
  }
  return ts.isLiteralExpression(expression) || KEYWORDS.includes(expression.kind);
}

const KEYWORDS = [ts.SyntaxKind.TrueKeyword, ts.SyntaxKind.FalseKeyword, ts.SyntaxKind.NullKeyword];

/** Returns what a `const` of an enclosing block is initialised with. */
function initializerOf(name: ts.Identifier): ts.Expression | undefined {
  for (let block: ts.Node = name; !ts.isSourceFile(block);) {
    block = block.parent;
    if (!ts.isBlock(block) && !ts.isSourceFile(block)) continue;
    for (const statement of block.statements) {
      if (!ts.isVariableStatement(statement) || !(statement.declarationList.flags & ts.NodeFlags.Const))
        continue;
      const found = statement.declarationList.declarations.find((each) => each.name.getText() === name.text);
      if (found) return found.initializer;
    }
  }
  return undefined;
}

/** Whether the value of an expression comes from such a node. Callbacks are values of their own. */
function holds(node: ts.Node | undefined, isWanted: (node: ts.Node) => boolean): boolean {
  if (node === undefined || ts.isFunctionLike(node)) return false;
  return isWanted(node) || (ts.forEachChild(node, (child) => holds(child, isWanted) || undefined) ?? false);
}

const contains = (node: ts.Node, isWanted: (node: ts.Node) => boolean): boolean =>
  isWanted(node) || (ts.forEachChild(node, (child) => contains(child, isWanted) || undefined) ?? false);
