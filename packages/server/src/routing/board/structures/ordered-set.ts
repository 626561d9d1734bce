interface Node<Item> {
  readonly item: Item;
  readonly priority: number;
  left: Node<Item> | null;
  right: Node<Item> | null;
  /** The number of nodes in the subtree, including this one. */
  size: number;
}

/**
 * A sorted set: a treap with subtree sizes. Adding, removing and the rank of an item take O(log n). The values that `compare`
 * reads must not change while an item is in the set.
 */
export class OrderedSet<Item> {
  readonly #compare: (a: Item, b: Item) => number;
  #root: Node<Item> | null = null;
  /** Cached, because the first item is read most often. */
  #first: Item | undefined = undefined;
  #state = 0x2545f491;

  constructor(compare: (a: Item, b: Item) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#root?.size ?? 0;
  }

  add(item: Item): void {
    // Most sets of free operators are empty until one becomes free.
    if (this.#root === null) {
      this.#root = leaf(item, this.#priority());
      this.#first = item;
      return;
    }
    this.#root = this.#insert(this.#root, leaf(item, this.#priority()));
    if (this.#first === undefined || this.#compare(item, this.#first) < 0) this.#first = item;
  }

  /** Returns whether the item was in the set. */
  delete(item: Item): boolean {
    if (this.#root?.size === 1 && this.#first === item) {
      this.#root = null;
      this.#first = undefined;
      return true;
    }
    const before = this.size;
    this.#root = this.#remove(this.#root, item);
    if (this.size === before) return false;
    if (this.#first !== undefined && this.#compare(item, this.#first) === 0) this.#first = leftmost(this.#root);
    return true;
  }

  first(): Item | undefined {
    return this.#first;
  }

  firstWhere(matches: (item: Item) => boolean): Item | undefined {
    return search(this.#root, matches);
  }

  /** The number of items before this one, which must be in the set. */
  rank(item: Item): number {
    let before = 0;
    let node = this.#root;
    while (node !== null) {
      const order = this.#compare(item, node.item);
      if (order <= 0) {
        if (order === 0) return before + sizeOf(node.left);
        node = node.left;
      } else {
        before += sizeOf(node.left) + 1;
        node = node.right;
      }
    }
    throw new Error('the item is not in the set');
  }

  *[Symbol.iterator](): Generator<Item> {
    yield* walk(this.#root);
  }

  /** Treap priorities from xorshift32 with a fixed seed, so that every run builds the same tree. */
  #priority(): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return this.#state;
  }

  #insert(node: Node<Item> | null, added: Node<Item>): Node<Item> {
    if (node === null) return added;
    if (added.priority > node.priority) {
      this.#split(node, added);
      return resized(added);
    }
    const order = this.#compare(added.item, node.item);
    if (order === 0) throw new Error('the item is in the set already');
    if (order < 0) node.left = this.#insert(node.left, added);
    else node.right = this.#insert(node.right, added);
    return resized(node);
  }

  /** Makes `around` the root: the items before it become its left subtree, those after it the right one. */
  #split(node: Node<Item> | null, around: Node<Item>): void {
    const [left, right] = this.#cut(node, around.item);
    around.left = left;
    around.right = right;
  }

  #cut(node: Node<Item> | null, item: Item): [Node<Item> | null, Node<Item> | null] {
    if (node === null) return [null, null];
    const order = this.#compare(node.item, item);
    if (order === 0) throw new Error('the item is in the set already');
    if (order < 0) {
      const [left, right] = this.#cut(node.right, item);
      node.right = left;
      return [resized(node), right];
    }
    const [left, right] = this.#cut(node.left, item);
    node.left = right;
    return [left, resized(node)];
  }

  #remove(node: Node<Item> | null, item: Item): Node<Item> | null {
    if (node === null) return null;
    const order = this.#compare(item, node.item);
    if (order === 0) return merge(node.left, node.right);
    if (order < 0) node.left = this.#remove(node.left, item);
    else node.right = this.#remove(node.right, item);
    return resized(node);
  }
}

function leftmost<Item>(root: Node<Item> | null): Item | undefined {
  let node = root;
  while (node?.left) node = node.left;
  return node?.item;
}

function leaf<Item>(item: Item, priority: number): Node<Item> {
  return { item, priority, left: null, right: null, size: 1 };
}

function sizeOf<Item>(node: Node<Item> | null): number {
  return node === null ? 0 : node.size;
}

function resized<Item>(node: Node<Item>): Node<Item> {
  node.size = sizeOf(node.left) + sizeOf(node.right) + 1;
  return node;
}

function merge<Item>(left: Node<Item> | null, right: Node<Item> | null): Node<Item> | null {
  if (left === null) return right;
  if (right === null) return left;
  if (left.priority > right.priority) {
    left.right = merge(left.right, right);
    return resized(left);
  }
  right.left = merge(left, right.left);
  return resized(right);
}

function search<Item>(node: Node<Item> | null, matches: (item: Item) => boolean): Item | undefined {
  if (node === null) return undefined;
  const before = search(node.left, matches);
  if (before !== undefined) return before;
  return matches(node.item) ? node.item : search(node.right, matches);
}

function* walk<Item>(node: Node<Item> | null): Generator<Item> {
  if (node === null) return;
  yield* walk(node.left);
  yield node.item;
  yield* walk(node.right);
}
