"""An app with modules named like guardgraph's own, `state` and `graphs`: run ``python main.py`` in this folder.

guardgraph keeps its modules inside its package, so an app may name its own as it likes.
"""

from __future__ import annotations

from graphs.desk import create_agent, create_desk


def main() -> None:
    """Answer two messages, and one in a run that is given no time."""
    desk = create_desk(create_agent())
    for message in ("When will my refund be paid?", "Do you sell elephants?"):
        print(f"{message} {desk.invoke({'message': message})['reply']}")
    hurried = desk.invoke({"message": "When will my refund be paid?"}, context={"budget": {"max_seconds": 0.0}})
    print(hurried["reply"])


if __name__ == "__main__":
    main()
