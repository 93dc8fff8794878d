// Reads branches of a tree with jsroot, and prints their values: node read.mjs FILE TREE BRANCH...
import { openFile, TSelector, treeProcess } from 'jsroot';

const [path, name, ...branches] = process.argv.slice(2);

/** Numbers, texts and lists of them. */
function plain(value) {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Map) return [...value].map(plain);
  if (ArrayBuffer.isView(value) || Array.isArray(value)) return Array.from(value, plain);
  if (value && typeof value === 'object') {
    const members = Object.entries(value).filter(([key]) => key !== '_typename' && !key.startsWith('$'));
    return Object.fromEntries(members.map(([key, member]) => [key, plain(member)]));
  }
  return value;
}

const file = await openFile(path);
const tree = await file.readObject(name);
const values = Object.fromEntries(branches.map((branch) => [branch, []]));
for (const branch of branches) {
  const selector = new TSelector();
  selector.addBranch(branch, 'value');
  selector.Process = function () { values[branch].push(plain(this.tgtobj.value)); };
  let failed;
  selector.Terminate = (done) => { if (!done) failed = `${branch} was not read to its end`; };
  await treeProcess(tree, selector);
  if (failed) throw new Error(failed);
}
console.log(JSON.stringify(values));
