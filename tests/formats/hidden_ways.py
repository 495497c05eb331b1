"""Ways in which a page hides a text from its reader, by class; `{x}` is the text."""

# ruff: noqa: E501  a table

INLINE = {
    "display": ["display:none", "display:none!important", "DISPLAY:\nNONE", "display:\\6eone"],
    "visibility": ["visibility:hidden", "visibility:collapse", "visibility: hidden ; color:red"],
    "content": ["content-visibility:hidden"],
    "opacity": [
        "opacity:0", "opacity:0.02", "opacity:1%", "opacity:-1", "filter:opacity(0)", "filter:opacity(2%) blur(0)",
        "opacity:.3;filter:opacity(.1)",
    ],
    "variables": [
        "--x:none;display:var(--x)", "--x:none;--y:var(--x);display:var(--y)", "display:var(--nowhere,none)",
        "--v:hidden;visibility:var(--v)", "--o:0;opacity:var(--o)", "opacity:var(--nowhere,0)",
        "--l:-9999px;position:absolute;left:var(--l)", "--c:transparent;color:var(--c)",
    ],
    "size": [
        "font-size:0", "font-size:1px", "font-size:.1em", "font-size:2%", "font:1px serif", "font-size:.05rem",
        "font-size:0.02in", "zoom:.05", "font-size:calc(0px)", "font-size:max(0px)", "font-size:1pt",
        "font-size:min(90px,0px)", "zoom:5%", "font-size:calc(16px - 16px)", "font-size:calc(16px*0)",
    ],
    "empty": [
        "width:0;overflow:hidden", "height:0;overflow:hidden", "max-height:0;overflow:hidden",
        "max-width:0;overflow:hidden;white-space:nowrap", "height:1px;width:1px;overflow:hidden;position:absolute",
        "height:0;overflow:clip", "height:0;overflow-y:hidden", "height:0;overflow:auto",
        "block-size:0;overflow:hidden", "line-height:0;height:0;overflow:hidden", "height:0.5px;contain:paint",
        "inline-size:0;overflow:hidden", "height:0;contain:strict", "display:grid;grid-template-rows:0fr;overflow:hidden",
    ],
    "clip": [
        "position:absolute;clip:rect(0,0,0,0)", "position:absolute;clip:rect(0 0 0 0)",
        "position:absolute;clip:rect(1px,1px,1px,1px)", "position:fixed;clip:rect(0px, 0px, 9px, 0px)",
        "clip-path:inset(100%)", "clip-path:inset(50%)", "clip-path:circle(0)", "clip-path:ellipse(0 0)",
        "clip-path:polygon(0 0,0 0,0 0)", "clip-path:inset(0 0 100% 0)", "-webkit-clip-path:inset(50% 0)",
        "clip-path:rect(0 0 0 0)", "clip-path:xywh(0 0 0 0)", "clip-path:circle(0 at 50% 50%)", "clip-path:polygon(0 0,0 100%,0 50%)",
    ],
    "off": [
        "position:absolute;left:-9999px", "position:absolute;top:-9999px", "position:fixed;left:-2000px",
        "position:relative;left:-5000px", "position:absolute;right:-9999px", "position:absolute;left:-100em",
        "position:absolute;left:-100vw", "position:absolute;top:-200%", "position:absolute;inset:-9999px auto auto -9999px",
        "text-indent:-9999px", "text-indent:-999em", "margin-left:-9999px", "margin:-9999px 0 0 -9999px",
        "position:absolute;left:calc(-1 * 9999px)", "text-indent:100%;white-space:nowrap;overflow:hidden",
        "position:absolute;left:20000px", "margin-top:-99999px", "position:absolute;inset-inline-start:-9999px",
        "position:sticky;left:-9000px;position:relative", "display:block;margin-left:-400em",
        "margin-inline:-9999px", "position:absolute;inset-block:-9999px auto", "position:fixed;top:100vh",
        "text-indent:200%;white-space:nowrap;overflow:hidden",
    ],
    "turned": [
        "transform:scale(0)", "transform:scaleX(0)", "transform:scaleY(0.001)",
        "transform:translate(-9999px,0)", "transform:translateX(-200vw)",
        "transform:translateY(-9999px)", "transform:rotateY(90deg)",
        "transform:rotateX(.25turn)", "transform:matrix(0,0,0,0,0,0)",
        "scale:0", "translate:-9999px 0", "rotate:y 90deg",
        "transform:scale3d(0,0,0)", "transform:rotate(3deg) scale(0)",
        "transform:skew(90deg)", "transform:rotate3d(0,1,0,90deg)", "rotate:0 1 0 90deg",
        "transform:matrix3d(0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1)", "transform:translate3d(-9999px,0,0)", "-webkit-transform:scale(0)",
    ],
    "ink": [
        "color:transparent", "color:#0000", "color:#ffffff00", "color:rgba(0,0,0,0)", "color:rgb(0 0 0 / 0%)",
        "color:hsla(0,0%,0%,0)", "-webkit-text-fill-color:transparent", "color:rgba(9,9,9,.01)",
        "color:white", "color:#fff", "color:#FEFEFE", "color:rgb(255,255,255)", "color:rgb(100%,100%,100%)",
        "color:hsl(0,0%,100%)", "color:white;background:white", "color:#123;background:#123",
        "color:#123456;background-color:rgb(18,52,86)", "background:black", "color:snow",
        "background:#000 none no-repeat", "-webkit-text-fill-color:white", "color:mintcream", "color:Canvas",
        "color:oklch(1 0 0)", "color:lab(100% 0 0)", "color:hwb(0 100% 0%)", "color:color(srgb 1 1 1)",
        "color:rgb(from white r g b)", "color:rgb(none none none / 0)", "color:lime;background:lime",
        "background:currentcolor", "color:oklab(100% 0 0)", "color:lch(100 0 0)", "background:oklch(.5 0 0);color:#636363",
    ],
    "replaced": [
        "mask:linear-gradient(transparent,transparent)", "mask-image:url(a.png)", "content:url(a.png)",
        "display:table-column",
    ],
    "masked": ["-webkit-text-security:disc", "-webkit-text-security:square"],
    "turned round": ["unicode-bidi:bidi-override;direction:rtl", "unicode-bidi:isolate-override;direction:rtl"],
    "squeezed": ["letter-spacing:-1em", "letter-spacing:-40px"],
    "struck": ["text-decoration:line-through", "text-decoration-line:line-through", "text-decoration:red line-through"],
}  # fmt: skip
"""Values of `style`."""

CLASSES = [
    "sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "d-none", "hidden", "hide", "is-hidden",
    "invisible", "element-invisible", "offscreen", "show-for-sr", "a11y-hidden", "govuk-visually-hidden", "uk-hidden",
    "assistive-text", "ng-hide", "cdk-visually-hidden", "slds-hide", "print-only", "u-visually-hidden", "is-sr-only",
]  # fmt: skip
"""Names that many style sheets know."""

SHEETS = [
    ".z{display:none}", "#z{display:none}", "em{display:none}", "em.z{visibility:hidden}", "p .z{opacity:0}",
    "p>em{font-size:0}", "*{} .z{color:transparent}", "[data-z]{display:none}", "[class~=z]{display:none}",
    ".a,.z,.b{display:none}", ".z{display:none", "@media screen{.z{display:none}}", "@media all{.z{display:none}}",
    "@media (min-width:600px){.z{display:none}}", "@supports (display:grid){.z{display:none}}",
    "@layer x{.z{display:none}}", ".z{position:absolute;left:-9999px}", ".z{display:none!important}.z{display:block}",
    "#z{display:none}.z{display:block}", "/*}*/.z{display:none}", "<!-- .z{display:none} -->", "p{.z{display:none}}",
    "p{& .z{display:none}}", ":root{--x:none}.z{display:var(--x)}", ".z{clip-path:inset(100%)}",
    ".z{height:0}.z{overflow:hidden;display:block}", "p em:first-of-type{display:none}", ".z:not(:hover){display:none}",
    "em:not(.y){display:none}", "p :is(.z,.y){display:none}", "body .z{color:#fff}", ".z{background:#000}",
    ".\\7a{display:none}", "@import url(a.css);.z{display:none}", ".a::before{content:'}'}.z{display:none}",
    "@font-face{font-family:a}.z{display:none}", "@keyframes a{from{opacity:1}}.z{opacity:0}", ".Z,.z{display:none}",
    ".z{display:none}.z{display:bogus}", "@media print{.z{color:red}}.z{text-indent:-999em;display:block}",
    "*{color:#fff}", ".z{transform:scale(0);display:block}", "P EM{DISPLAY:NONE}", "main em{display:none}",
    "@media (max-width:90000px){.z{display:none}}", "@media not print{.z{display:none}}",
    ".z:not(:hover,:focus){display:none}", ".z:not(a:hover){display:none}", "body{.z{display:none}}",
    "@media (color){.z{display:none}}", ".z{opacity:0}.z{opacity:bogus}", ".z{color:#fff}.z{color:bogus}",
    ".z{font-size:0}.z{font-size:bogus}", ".z{left:-9999px;position:absolute}.z{left:bogus}",
    "@media only/**/screen{.z{display:none}}", ".z{display:block;&{display:none}}",
]  # fmt: skip
"""Rules of the page, in which the text stands in `<em id=z class=z data-z>`."""

MARKUP = [
    "<em hidden>{x}</em>", "<em aria-hidden=true>{x}</em>", "<dialog>{x}</dialog>", "<template>{x}</template>",
    "<div><template shadowrootmode=open><p>shown</p></template>{x}</div>",
    "<div><template shadowrootmode=closed><slot name=a></slot></template><b>{x}</b></div>",
    "<x-y><template shadowrootmode=open></template><i slot=b>{x}</i></x-y>",
    "<div><template shadowrootmode=open><slot hidden></slot></template>{x}</div>",
    "<div><template shadowrootmode=open><slot hidden></slot><slot></slot></template>{x}</div>",
    "<div><template shadowrootmode=open><style>slot{display:none}</style><slot></slot></template>{x}</div>",
    "<div><template shadowrootmode=open><style>p{display:none}</style><p>{x}</p></template></div>",
    "<div aria-hidden=true><template shadowrootmode=open><p>{x}</p></template></div>",
    "<div><template shadowrootmode=open><slot aria-hidden=true></slot></template>{x}</div>",
    "<font color=white>{x}</font>", "<font color='#FFFFFF'>{x}</font>", "<table bgcolor=#000000><tr><td>{x}</table>",
    "<p><bdo dir=rtl>{x}</bdo></p>", "<noscript>{x}</noscript>", "<script type=text/plain>{x}</script>",
    "<div popover>{x}</div>", "<details hidden open>{x}</details>", "<svg><desc>{x}</desc></svg>",
    "<select><option>{x}</select>", "<textarea>{x}</textarea>", "<object>{x}</object>", "<del>{x}</del>", "<s>{x}</s>",
    "<datalist><option>{x}</datalist>", "<iframe srcdoc='{x}'></iframe>", "<p title='{x}'>a</p>", "<ruby>a<rp>{x}</rp></ruby>",
]  # fmt: skip

NESTED = [
    "<div style='opacity:.2'><div style='opacity:.2'><em>{x}</em></div></div>",
    "<div style='font-size:.4em'><div style='font-size:.4em'><em>{x}</em></div></div>",
    "<div style='background:#333'><p style='color:#333'><em>{x}</em></p></div>",
    "<div style='color:#333'><p style='background:#333'>{x}</p></div>",
    "<div style='--x:none'><p style='display:var(--x)'>{x}</p></div>",
    "<div style='color:transparent'><p>{x}</p></div>",
    "<div style='height:0;overflow:hidden'><div style='height:99px'>{x}</div></div>",
    "<div style='position:absolute;left:-9999px'><p style='position:relative;left:1px'>{x}</p></div>",
]

OPEN = [
    "<div style='position:relative'>{x}<div style='position:absolute;inset:0;background:#fff'></div></div>",
    "<div style='background:#fff'><p style='position:relative;z-index:-1'>{x}</p></div>",
    "<div style='width:40px;overflow:hidden;white-space:nowrap'><span style='padding-left:90px'>{x}</span></div>",
    "<p style='-webkit-mask:linear-gradient(transparent,transparent)'>{x}</p>",
    "<p style='mask-image:linear-gradient(#0000,#0000)'>{x}</p>",
    "<div style='height:20px;overflow:hidden;line-height:20px'>shown<br>{x}</div>",
    "<p style='display:-webkit-box;-webkit-line-clamp:1;-webkit-box-orient:vertical;overflow:hidden'>a<br>{x}</p>",
    "<p style='animation:a 1s forwards'>{x}</p><style>@keyframes a{to{opacity:0}}</style>",
    "<div style='container-type:inline-size'><p id=q>{x}</p></div><style>@container (width>1px){#q{display:none}}</style>",
    "<style>@scope(main){#q{display:none}}</style><p id=q>{x}</p>",
    "<style>x-t::part(a){display:none}</style><x-t><template shadowrootmode=open><p part=a>{x}</p></template></x-t>",
    "<p id=q>{x}</p><script>document.getElementById('q').remove()</script>",
    "<link rel=stylesheet href='data:text/css,.q{display:none}'><p class=q>{x}</p>",
    "<style>@import 'data:text/css,.q{display:none}';</style><p class=q>{x}</p>",
    "<p style='mask:url(#m)'>{x}</p><svg width=0 height=0><mask id=m></mask></svg>",
    "<p style='clip-path:url(#c)'>{x}</p><svg width=0 height=0><clipPath id=c></clipPath></svg>",
]
"""What stays open without a browser, as docs/web.md says."""


def hidden_ways() -> dict[str, list[str]]:
    """Return bodies of pages by class."""
    return {
        **{name: [f'<div style="{style}">{{x}}</div>' for style in styles] for name, styles in INLINE.items()},
        "classes": [f"<p><em class='a {name} b'>{{x}}</em></p>" for name in CLASSES],
        "sheets": [f"<style>{rules}</style><p><em id=z class=z data-z>{{x}}</em></p>" for rules in SHEETS],
        "markup": MARKUP,
        "nested": NESTED,
        "open": OPEN,
    }


SEEN = [
    "<div><template shadowrootmode=open><p>a</p><b><slot></slot></b><slot name=a></slot></template><i>{x}</i></div>",
    "<div><template shadowrootmode=open><slot name=a></slot><slot name=b>b</slot></template><i slot=a>{x}</i></div>",
    "<div><template shadowrootmode=open><x-y><template shadowrootmode=open><slot></slot></template><slot></slot></x-y></template>{x}</div>",
    "<p style='color:oklch(40% .1 250)'>{x}</p>", "<p style='color:lab(30 10 10)'>{x}</p>", "<p style='color:hwb(0 0% 40%)'>{x}</p>",
    "<p style='color:color(display-p3 .2 .3 .4)'>{x}</p>", "<p style='color:tomato'>{x}</p>", "<p style='color:linktext'>{x}</p>",
    "<p style='font-size:calc(1rem + 1vw)'>{x}</p>", "<p style='font-size:clamp(1rem,2vw,2rem)'>{x}</p>",
    "<p style='font-size:calc(20px - 2px)'>{x}</p>", "<p style='display:grid;grid-template-columns:0 1fr'>{x}</p>",
    "<p style='mask:none'>{x}</p>", "<p style='content:normal'>{x}</p>", "<p style='transform:skew(5deg)'>{x}</p>",
    "<p style='clip-path:inset(0)'>{x}</p>", "<p style='position:fixed;top:0;left:0'>{x}</p>",
    "<p style='transform:matrix3d(1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1)'>{x}</p>", "<p style='transform:rotate3d(0,0,1,90deg)'>{x}</p>",
    "<style>.z{color:#fff}.z{color:#222}</style><p class=z>{x}</p>", "<style>.z{opacity:0}.z{opacity:inherit}</style><p class=z>{x}</p>",
    "<style>.z{color:transparent}.z{color:color-mix(in srgb,red 40%,#111)}</style><p class=z>{x}</p>",
    "<style>.q{.z{display:none}}</style><p class=z>{x}</p>", "<style>body{p:not(.z){color:red}}</style><p class=z>{x}</p>",
    "<p style='color:red;background:white'>{x}</p>", "<p style='--x:block;display:var(--x)'>{x}</p>",
    "<p style='opacity:var(--nowhere,1)'>{x}</p>", "<p class='hidden md:block'>{x}</p>",
    "<p class='d-none d-md-block'>{x}</p>", "<style>.hidden{display:block}</style><p class=hidden>{x}</p>",
    "<style>@media print{p{display:none}}</style><p>{x}</p>", "<style>p:hover{display:none}</style><p>{x}</p>",
    "<style>@media (max-width:700px){p{display:none}}</style><p>{x}</p>", "<style>p::after{display:none}</style><p>{x}</p>",
    "<style>.a .b{display:none}</style><p class=b>{x}</p>", "<style>p{display:none}#q{display:block}</style><p id=q>{x}</p>",
    "<style>p{display:none}</style><p style='display:block'>{x}</p>", "<style>body{opacity:0}</style><p>{x}</p>",
    "<style>body{display:none}</style><p>{x}</p>", "<p style='position:absolute;left:10px'>{x}</p>",
    "<p style='position:relative;top:-2px'>{x}</p>", "<p style='margin-left:-20px'>{x}</p>",
    "<p style='text-indent:-2em'>{x}</p>", "<p style='overflow:hidden'>{x}</p>", "<p style='width:300px;overflow:auto'>{x}</p>",
    "<p style='background:url(a.png);color:white'>{x}</p>", "<p style='transform:rotate(2deg) scale(1.1)'>{x}</p>",
    "<p style='background:linear-gradient(red,blue);-webkit-background-clip:text;color:transparent'>{x}</p>",
    "<div style='background:#222'><p style='color:#fff'>{x}</p></div>", "<p style='letter-spacing:-.02em'>{x}</p>",
    "<link rel=stylesheet href=a.css><p style='color:white'>{x}</p>", "<p style='clip-path:inset(0 round 4px)'>{x}</p>",
    "<p style='line-height:0'>{x}</p>", "<p style='color:rgba(0,0,0,.87)'>{x}</p>", "<p style='text-decoration:none'>{x}</p>",
    "<div><template shadowrootmode=open><p>a</p><slot></slot></template>{x}</div>",
    "<div><template shadowrootmode=open><slot name=a></slot></template><b slot=a>{x}</b></div>",
    "<div><template shadowrootmode=open><p>{x}</p></template>light</div>",
    "<b><template shadowrootmode=open><p>a</p></template>{x}</b>", "<p style='font-size:.8em'>{x}</p>",
    "<style>.a{color:red;.b{display:none}}</style><p class=b>{x}</p>", "<p style='max-height:90px;overflow:hidden'>{x}</p>",
    "<p style='position:absolute;left:50%;margin-left:-480px'>{x}</p>", "<p style='transform:translate(-50%,-50%)'>{x}</p>",
    "<style media=print>p{display:none}</style><p>{x}</p>", "<style type=text/x>p{display:none}</style><p>{x}</p>",
    "<noscript><style>p{display:none}</style></noscript><p>{x}</p>", "<p style='vertical-align:middle'>{x}</p>",
    "<style>.y,{display:none}</style><p>{x}</p>",
]  # fmt: skip
"""What a reader sees, though words of what hides stand there."""
