// What of a page is seen. Runs in the page, whose own scripts never do; nothing of it is called by a name that the page
// could give to one of its elements, so all is taken from the prototypes.
() => {
  const got = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name);
  const read = (type, name, of) => got(type, name).get.call(of);
  const call = (type, name, of, ...given) => type.prototype[name].call(of, ...given);
  const attribute = (item, name) => call(Element, 'getAttribute', item, name);
  const parent = node => read(Node, 'parentNode', node);
  const tag = item => read(Element, 'localName', item);
  const root = read(Document, 'documentElement', document);
  const MOST_LAYERS = 6, CELL = 64, LEAST_HEIGHT = 4, MOST_CHARACTERS = 500000, LEAST_SCROLLER = 40;
  const WIDEST = 3000, HIGHEST = 60000;
  const SKIPPED = ['head', 'script', 'style', 'template', 'noscript', 'svg', 'math', 'iframe', 'object', 'textarea'];

  const INLINE = ['a', 'abbr', 'b', 'bdi', 'bdo', 'cite', 'code', 'del', 'em', 'font', 'i', 'ins', 'kbd', 'label', 'mark', 'q',
    's', 'samp', 'small', 'span', 'strong', 'sub', 'sup', 'time', 'u', 'var'];

  const trees = [document];
  const elements = [], texts = [], comments = [];
  const walk = tree => {
    const waiting = [tree];
    while (waiting.length) {
      const node = waiting.pop();
      const type = read(Node, 'nodeType', node);
      if (type === 3) texts.push(node);
      if (type === 8 || type === 7) comments.push(node);
      if (type === 1) {
        elements.push(node);
        const shadow = read(Element, 'shadowRoot', node);
        if (shadow) { trees.push(shadow); waiting.push(shadow); }
        if (SKIPPED.includes(tag(node))) continue;
      }
      for (let child = read(Node, 'lastChild', node); child; child = read(Node, 'previousSibling', child)) waiting.push(child);
    }
  };
  walk(root);

  const styled = (item, name, value) => item.attributeStyleMap && call(CSSStyleDeclaration, 'setProperty', read(HTMLElement, 'style', item), name, value, 'important');
  for (const item of elements) {
    if (!(item instanceof HTMLElement)) continue;
    if (tag(item) === 'details') call(Element, 'setAttribute', item, 'open', '');
    // What scrolls inside is shown as a whole, where there is a window to scroll it in.
    const style = getComputedStyle(item);
    const scrolls = /auto|scroll/.test(style.overflowX + style.overflowY);
    if (scrolls && read(Element, 'clientHeight', item) >= LEAST_SCROLLER && read(Element, 'clientWidth', item) >= LEAST_SCROLLER) {
      for (const [name, value] of [['height', 'auto'], ['max-height', 'none'], ['overflow', 'visible']]) styled(item, name, value);
    }
  }

  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`::highlight(guardgraph) {
    color: transparent; -webkit-text-fill-color: transparent; -webkit-text-stroke-color: transparent;
    text-shadow: none; background-color: transparent; text-decoration: none }`);
  for (const tree of trees) {
    const type = tree === document ? Document : ShadowRoot;
    got(type, 'adoptedStyleSheets').set.call(tree, [...got(type, 'adoptedStyleSheets').get.call(tree), sheet]);
  }

  const inside = box => {  // without the edges, where letters beside it may have ink
    const across = box.width >= 4 ? 1 : 0, down = box.height * 0.15;
    return [box.left + scrollX + across, box.top + scrollY + down, box.right + scrollX - across, box.bottom + scrollY - down];
  };
  const clipped = node => {  // an ancestor whose background is seen through its letters
    for (let item = parent(node); item && item instanceof Element; item = parent(item)) {
      if (getComputedStyle(item).backgroundClip.includes('text')) return item;
    }
    return null;
  };

  const layers = Array.from({length: MOST_LAYERS}, () => []), grids = layers.map(() => new Map());
  const touches = (box, grid, cells) => cells.some(cell => (grid.get(cell) || []).some(
    other => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]));
  const cellsOf = box => {
    const cells = [];
    for (let x = Math.floor(box[0] / CELL); x <= box[2] / CELL; x++)
      for (let y = Math.floor(box[1] / CELL); y <= box[3] / CELL; y++) cells.push(`${x},${y}`);
    return cells;
  };
  const onPage = box => box[2] > 0 && box[3] > 0 && box[0] < WIDEST && box[1] < HIGHEST && box[2] - box[0] < 2 * WIDEST;
  let count = 0;
  const known = new Map();
  for (const node of texts) {
    const data = read(CharacterData, 'data', node);
    const letters = [...data];
    count += letters.length;
    if (count > MOST_CHARACTERS) return null;
    const range = new Range();
    range.selectNodeContents(node);
    const lines = [...range.getClientRects()].map(inside).filter(onPage);
    const told = {letters, drawn: new Array(letters.length).fill(false), laid: lines.length > 0, layer: -1, boxes: []};
    known.set(node, told);
    if (!lines.length || !data.trim()) continue;
    const host = parent(node) instanceof Element ? parent(node) : null;  // Chromium draws some sizes larger than they are
    if (host && parseFloat(getComputedStyle(host).fontSize) < LEAST_HEIGHT) continue;
    const cells = lines.map(cellsOf);
    told.layer = grids.findIndex(grid => !lines.some((box, at) => touches(box, grid, cells[at])));
    if (told.layer < 0) continue;
    lines.forEach((box, at) => cells[at].forEach(cell => {
      const grid = grids[told.layer];
      if (!grid.has(cell)) grid.set(cell, []);
      grid.get(cell).push(box);
    }));
    layers[told.layer].push(node);
    let at = 0;
    letters.forEach((letter, number) => {
      range.setStart(node, at);
      at += letter.length;
      range.setEnd(node, at);
      const box = [...range.getClientRects()].find(one => one.width > 0 && one.height >= LEAST_HEIGHT);
      if (box && letter.trim()) told.boxes.push([number, ...inside(box)]);
    });
  }

  // An ordinary display is not told, so that it goes over no name of a class by which a sheet that was refused may hide.
  const tellsMore = (item, display) => display !== 'none' && display !== 'inline' && !display.startsWith('table')
    && (INLINE.includes(tag(item)) || !['block', 'list-item'].includes(display));

  const hidden = [];
  const size = () => [Math.min(read(Element, 'scrollWidth', root), WIDEST), Math.min(read(Element, 'scrollHeight', root), HIGHEST)];

  return {
    size: size(),
    layers: layers.filter(layer => layer.length).length,
    hide(number) {
      this.show();
      const highlight = new Highlight();
      for (const node of layers[number]) {
        const range = new Range();
        range.selectNodeContents(node);
        highlight.add(range);
        const item = clipped(node);
        if (item) { hidden.push(item); styled(item, 'visibility', 'hidden'); }
      }
      CSS.highlights.set('guardgraph', highlight);
      return layers[number].flatMap((node, at) => known.get(node).boxes.map(box => [at, ...box]));
    },
    show() {
      CSS.highlights.clear();
      for (const item of hidden.splice(0)) call(CSSStyleDeclaration, 'removeProperty', read(HTMLElement, 'style', item), 'visibility');
    },
    mark(number, drawn) {
      for (const [at, letter] of drawn) known.get(layers[number][at]).drawn[letter] = true;
    },
    html() {
      const said = elements.filter(item => item instanceof HTMLElement).map(item => {
        const style = getComputedStyle(item), own = [];
        if (tellsMore(item, style.display)) own.push(`display:${style.display}`);
        if (style.verticalAlign !== 'baseline') own.push(`vertical-align:${style.verticalAlign}`);
        if (style.float !== 'none') own.push(`float:${style.float}`);
        if (/absolute|fixed/.test(style.position)) own.push(`position:${style.position}`);
        if (style.position === 'relative' && Math.abs(parseFloat(style.top)) < LEAST_SCROLLER) own.push(`position:relative;top:${style.top}`);
        if (style.textDecorationLine.includes('line-through')) own.push('text-decoration:line-through');
        if (style.unicodeBidi.includes('override')) own.push(`unicode-bidi:${style.unicodeBidi}`);
        if (style.webkitTextSecurity && style.webkitTextSecurity !== 'none') own.push(`-webkit-text-security:${style.webkitTextSecurity}`);
        if (parseFloat(style.letterSpacing) < 0) own.push(`font-size:${style.fontSize};letter-spacing:${style.letterSpacing}`);
        return [item, own.join(';')];
      });
      for (const [node, told] of known) {
        const isSeen = told.letters.map((letter, at) => told.drawn[at] || !letter.trim());
        const words = [];  // of a word that lacks a letter none is left
        for (let at = 0; at < told.letters.length;) {
          let end = at + 1;
          const isBlank = !told.letters[at].trim();
          while (end < told.letters.length && !told.letters[end].trim() === isBlank) end++;
          const spaceless = told.letters.slice(at, end).some(letter => letter > '\u0e00');
          for (let one = at; one < end; one++)
            words.push((spaceless ? isSeen[one] : isSeen.slice(at, end).every(Boolean)) ? told.letters[one] : ' ');
          at = end;
        }
        got(CharacterData, 'data').set.call(node, told.laid ? words.join('') : told.letters.some(letter => letter.trim()) ? '' : ' ');
      }
      for (const [item, style] of said) {
        for (const name of ['style', 'color', 'bgcolor', 'text']) call(Element, 'removeAttribute', item, name);
        if (style && !['html', 'body', 'head'].includes(tag(item))) call(Element, 'setAttribute', item, 'style', style);
      }
      const gone = elements.filter(item => ['style', 'template', 'noscript', 'svg', 'math', 'iframe', 'object', 'textarea', 'noembed', 'noframes', 'xmp', 'plaintext'].includes(tag(item))
        || (tag(item) === 'script' && attribute(item, 'type') !== 'application/ld+json')
        || (tag(item) === 'link' && /stylesheet/i.test(attribute(item, 'rel') || '')));
      const head = call(Document, 'querySelectorAll', document, 'head style, head noscript, head template, head link[rel~=stylesheet], head script:not([type="application/ld+json"])');
      for (const node of [...gone, ...head, ...comments]) if (parent(node)) call(Node, 'removeChild', parent(node), node);
      return '<!doctype html><html>' + call(Element, 'getHTML', root, {shadowRoots: trees.slice(1)}) + '</html>';
    },
  };
}
