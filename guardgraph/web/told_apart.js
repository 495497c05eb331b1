// Which boxes of two pictures can be told apart; each box is left, top, right, bottom in pixels of them.
async ([one, other, boxes]) => {
  const LEAST_SHADES = 16;
  const pixels = async png => {
    const bytes = Uint8Array.from(atob(png), letter => letter.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes], {type: 'image/png'}));
    const canvas = new OffscreenCanvas(picture.width, picture.height).getContext('2d', {willReadFrequently: true});
    canvas.drawImage(picture, 0, 0);
    return canvas.getImageData(0, 0, picture.width, picture.height);
  };
  const first = await pixels(one), second = await pixels(other);
  const width = first.width, height = first.height;
  return boxes.map(([left, top, right, bottom]) => {
    for (let y = Math.max(0, Math.floor(top)); y < Math.min(height, Math.ceil(bottom)); y++)
      for (let x = Math.max(0, Math.floor(left)); x < Math.min(width, Math.ceil(right)); x++)
        for (let at = (y * width + x) * 4, end = at + 3; at < end; at++)
          if (Math.abs(first.data[at] - second.data[at]) > LEAST_SHADES) return true;
    return false;
  });
}
