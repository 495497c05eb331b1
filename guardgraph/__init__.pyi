# The one list of the names that `guardgraph` offers: type checkers and the package itself read them here.

from guardgraph.drawing import Picture as Picture
from guardgraph.drawing import draw as draw
from guardgraph.graphs.catalogues import CATALOGUES as CATALOGUES
from guardgraph.graphs.door import GuardedGraph as GuardedGraph
from guardgraph.graphs.rag import create_rag_agent as create_rag_agent
from guardgraph.graphs.replay import replay as replay
from guardgraph.graphs.research import create_research_agent as create_research_agent
from guardgraph.graphs.self_critique import create_self_critique_agent as create_self_critique_agent
from guardgraph.graphs.verify import RULES as RULES
from guardgraph.graphs.verify import Finding as Finding
from guardgraph.graphs.verify import verify as verify
from guardgraph.reporting import Page as Page
from guardgraph.reporting import report as report
from guardgraph.state.context import Caller as Caller
from guardgraph.state.errors import ConfigurationError as ConfigurationError
from guardgraph.state.errors import GrammarError as GrammarError
from guardgraph.state.errors import GuardgraphError as GuardgraphError
from guardgraph.state.errors import InputError as InputError
from guardgraph.state.errors import NotRecorded as NotRecorded
from guardgraph.state.rag import RagBudget as RagBudget
from guardgraph.state.rag import RagContext as RagContext
from guardgraph.state.rag import RagPolicy as RagPolicy
from guardgraph.state.rag import RagResult as RagResult
from guardgraph.state.recording import Recorder as Recorder
from guardgraph.state.recording import Recording as Recording
from guardgraph.state.research import ResearchBudget as ResearchBudget
from guardgraph.state.research import ResearchContext as ResearchContext
from guardgraph.state.research import ResearchPolicy as ResearchPolicy
from guardgraph.state.research import ResearchResult as ResearchResult
from guardgraph.state.self_critique import SelfCritiqueBudget as SelfCritiqueBudget
from guardgraph.state.self_critique import SelfCritiqueContext as SelfCritiqueContext
from guardgraph.state.self_critique import SelfCritiquePolicy as SelfCritiquePolicy
from guardgraph.state.self_critique import SelfCritiqueResult as SelfCritiqueResult
from guardgraph.tools.knowledge_base import Document as Document
from guardgraph.tools.knowledge_base import load_folder as load_folder
from guardgraph.tools.lexical import LexicalRetriever as LexicalRetriever
from guardgraph.world.deadline import deadline as deadline
from guardgraph.world.live import LiveWorld as LiveWorld
from guardgraph.world.world import World as World

__version__: str
